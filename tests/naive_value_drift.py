"""Literal twin of the test of places: what was usual for long against what is usual now."""


class Places:
    """One memory of each kind for each context: all, after each letter, in each state, and both."""

    def __init__(self, prior, trust, lean, share, limits, bound, most):
        self.prior, self.trust, self.lean, self.share = prior, trust, lean, share
        self.limits, self.bound, self.most = limits, bound, most
        self.steady, self.recent = {}, {}
        self.weights = [1 / 4] * 4
        self.quick = [1 / (4 * len(limits))] * (4 * len(limits))
        self.ratio, self.since, self.half, self.last = 1.0, 0, 0, None

    def contexts(self, state):
        after, inside = None if self.last is None else ("after", self.last), None if state < 0 else ("in", state)
        return [("all",), after, inside, None if after is None or inside is None else (after, inside)]

    @staticmethod
    def mix(weights, chances, share):
        awake = [k for k, chance in enumerate(chances) if chance is not None]
        found = sum(weights[k] * chances[k] for k in awake) / sum(weights[k] for k in awake)
        gains = [1.0 if chance is None else chance / found for chance in chances]
        return found, [(1 - share) * w * g + share / len(weights) for w, g in zip(weights, gains, strict=True)]

    def take(self, letter, state, position):
        """Whether the model is given up at this letter; None = missing."""
        if letter is None:
            self.last = None
            return False
        contexts, n = self.contexts(state), len(self.prior)
        slow = []
        for k, context in enumerate(contexts):
            counts = self.steady.get(context, [0.0] * n)
            most, base = (self.trust, self.prior[letter]) if k == 0 else (self.lean, slow[0])
            slow.append(None if context is None else (counts[letter] + most * base) / (sum(counts) + most))
        p, self.weights = self.mix(self.weights, slow, self.share)
        fast = []
        for context in contexts:
            for m, limit in enumerate(self.limits):
                if context is None:
                    fast.append(None)
                    continue
                counts = self.recent.setdefault((context, m), [0.0] * n)
                fast.append((counts[letter] + self.lean * p) / (sum(counts) + self.lean))
                counts[letter] += 1.0
                if sum(counts) >= limit:
                    self.recent[context, m] = [0.5 * count for count in counts]
        q, self.quick = self.mix(self.quick, fast, self.share)
        for context in contexts:
            if context is not None:
                self.steady.setdefault(context, [0.0] * n)[letter] += 1.0
        self.last = letter
        old = max(self.ratio, 1.0)
        if old <= self.bound**0.1:
            self.since = position
        self.ratio = old * min(q / p, self.most)
        if old < self.bound**0.5 <= self.ratio:
            self.half = position
        return self.ratio >= self.bound
