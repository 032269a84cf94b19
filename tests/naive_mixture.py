"""An average of predictors, literally: dictionaries of contexts, and machines whose counts are dictionaries."""

from math import log2

DISCOUNTS = (0.5, 0.85)
GROWTH = 4
STRINGS = 500


class Contexts:
    """A tree of contexts: after each, how often each symbol came, and log2 of the odds of ending there."""

    def __init__(self, symbols, alpha, depth):
        self.symbols, self.alpha, self.depth = symbols, alpha, depth
        self.seen, self.odds = {(): {}}, {}

    def path(self, past):
        """The contexts of a past that are known, the empty one first."""
        found = [()]
        for n in range(1, min(len(past), self.depth) + 1):
            context = tuple(past[-n:])
            if context not in self.seen:
                break
            found.append(context)
        return found

    def chances(self, symbol, past):
        """Four probabilities of a symbol; and for both averages those of the contexts alone, and mixed from there."""
        path = self.path(past)
        discounted, plain = [], []
        for d in DISCOUNTS:
            p, along = 1 / self.symbols, []
            for context in path:
                after = self.seen[context]
                total = sum(after.values())
                if total:
                    p = (max(after.get(symbol, 0) - d, 0) + d * len(after) * p) / total
                along.append(p)
            discounted.append(along)
        for context in path:
            after = self.seen[context]
            count = after.get(symbol, 0) + self.alpha
            plain.append(count / (sum(after.values()) + self.alpha * self.symbols))
        details = []
        more = len(path) <= min(len(past), self.depth)
        for r, alone in enumerate((plain, discounted[0])):
            # A longer context that was never seen.
            mixed = [1 / self.symbols] if more and r == 0 else alone[-1:]
            for k in range(len(path) - 1, -1, -1):
                stay = 1 / (1 + 2 ** -self.odds.get((r, path[k]), 0.0))
                mixed.insert(0, stay * alone[k] + (1 - stay) * mixed[0])
            details.append((alone, mixed))
        return [details[0][1][0], details[1][1][0], discounted[0][-1], discounted[1][-1]], details

    def learn(self, symbol, past):
        path = self.path(past)
        _, details = self.chances(symbol, past)
        for r, (alone, mixed) in enumerate(details):
            for k in range(len(path)):
                odds = self.odds.get((r, path[k]), 0.0) + log2(alone[k]) - log2(mixed[k + 1])
                self.odds[r, path[k]] = min(max(odds, -60.0), 60.0)
        for n in range(len(path), min(len(path) + GROWTH, len(past) + 1, self.depth + 1)):
            path.append(tuple(past[-n:]))
        for context in path:
            after = self.seen.setdefault(context, {})
            after[symbol] = after.get(symbol, 0) + 1


class Average:
    """Machines (targets, first state) and contexts, whose weights follow their success."""

    def __init__(self, machines, symbols, alpha, share, depth, end=-1):
        self.machines, self.symbols, self.alpha, self.share, self.end = machines, symbols, alpha, share, end
        self.tree = Contexts(symbols, alpha, depth)
        self.counts = [{} for _ in machines]
        self.overall = dict.fromkeys(range(symbols), 0)
        n = 2 * len(machines) + 4
        self.home, self.weight = [1 / n] * n, [1 / n] * n
        self.begin()

    def begin(self):
        self.states = [first for _, first in self.machines]
        self.past = [] if self.end < 0 else [self.end]

    def chances(self, symbol):
        found = []
        whole = sum(self.overall.values()) + 1
        share = (self.overall[symbol] + 1 / self.symbols) / whole
        for counts, state in zip(self.counts, self.states, strict=True):
            row = [counts.get((state, s), 0) for s in range(self.symbols)]
            kinds = max(sum(c > 0 for c in row), 1)
            found.append((row[symbol] + kinds * share) / (sum(row) + kinds))
            found.append((row[symbol] + self.alpha) / (sum(row) + self.alpha * self.symbols))
        return found + self.tree.chances(symbol, self.past)[0]

    def probability(self, symbol):
        return sum(w * p for w, p in zip(self.weight, self.chances(symbol), strict=True))

    def follow(self, symbol, learns):
        """log2-probability of a symbol, which is then known; -1 is a gap."""
        if symbol < 0:
            self.begin()
            self.past = []
            return 0.0
        chances, p = self.chances(symbol), self.probability(symbol)
        both = zip(self.weight, chances, self.home, strict=True)
        self.weight = [(1 - self.share) * w * c / p + self.share * h for w, c, h in both]
        if learns:
            self.tree.learn(symbol, self.past)
            self.overall[symbol] += 1
        for m, (targets, _) in enumerate(self.machines):
            if learns:
                key = self.states[m], symbol
                self.counts[m][key] = self.counts[m].get(key, 0) + 1
            self.states[m] = targets[self.states[m]][symbol]
        self.past.append(symbol)
        if symbol == self.end:
            if learns:
                n = min(self.overall[symbol], STRINGS) + len(self.home)
                self.home = [h + (w - h) / n for h, w in zip(self.home, self.weight, strict=True)]
            self.weight = list(self.home)
            self.begin()
        return log2(p)
