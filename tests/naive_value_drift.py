"""Literal twin of the test of places: what was usual for long against what is usual now."""

from statistics import NormalDist

import numpy as np

ORDER, AGAIN = 8, 16


class Regression:
    """A score, or its size, given the last ORDER ones, by rows with weights; solved after every AGAIN of them."""

    def __init__(self, sizes, lean, limit=np.inf):
        self.sizes, self.lean, self.limit = sizes, lean, limit
        self.rows, self.worth = [], []
        mean = np.sqrt(2 / np.pi) if sizes else 0.0
        self.coefficients, self.spread = np.array([mean] + [0.0] * ORDER), np.sqrt(1 - mean**2)
        self.first = self.coefficients, self.spread

    def of(self, scores):
        return [abs(score) for score in scores] if self.sizes else scores

    def chance(self, known, low, high):
        mean = float(np.dot(self.coefficients, [1.0, *self.of(known)]))
        normal = NormalDist(0.0, max(mean, 0.1) / np.sqrt(2 / np.pi)) if self.sizes else NormalDist(mean, self.spread)
        return (1.0 if high == np.inf else normal.cdf(high)) - (0.0 if low == -np.inf else normal.cdf(low))

    def mixed(self, known, low, high, other):
        n = sum(self.worth)
        return (n * self.chance(known, low, high) + self.lean * other) / (n + self.lean)

    def take(self, known, score):
        self.rows.append([1.0, *self.of([*known, score])])
        self.worth.append(1.0)
        if sum(self.worth) > self.limit - 1e-6:
            self.worth = [0.5 * worth for worth in self.worth]

    def solve(self, coefficients, spread):
        """The least squares of rows, and of what is known before as so many of them."""
        rows, root = np.array(self.rows), np.sqrt(self.worth)
        x, left = rows[:, :-1] * root[:, None], (rows[:, -1] - rows[:, :-1] @ coefficients) * root
        leaning = np.sqrt(self.lean) * np.eye(ORDER + 1)
        more = np.linalg.lstsq(np.vstack([x, leaning]), np.append(left, np.zeros(ORDER + 1)), rcond=None)[0]
        squares = ((left - x @ more) ** 2).sum()
        self.coefficients = coefficients + more
        self.spread = float(np.sqrt((squares + self.lean * spread**2) / (sum(self.worth) + self.lean)))


class Places:
    """One memory of each kind for each context: all, after each letter, in each state, both, and the last scores."""

    def __init__(self, prior, trust, lean, share, limits, bound, most, borders, scores):
        self.borders, self.scores = borders, scores
        self.rules = [[Regression(sizes, lean, limit) for limit in (np.inf, *limits)] for sizes in (False, True)]
        self.letters = []
        self.prior, self.trust, self.lean, self.share = prior, trust, lean, share
        self.limits, self.bound, self.most = limits, bound, most
        self.steady, self.recent = {}, {}
        self.weights = [1 / 6] * 6
        self.quick = [1 / (6 * len(limits))] * (6 * len(limits))
        self.ratio, self.since, self.half = 1.0, 0, 0

    def contexts(self, state):
        after, inside = ("after", self.letters[-1]) if self.letters else None, None if state < 0 else ("in", state)
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
            self.letters = []
            return False
        known = [self.scores[a] for a in self.letters[-ORDER:]]
        near = known, self.borders[letter], self.borders[letter + 1]
        linear = len(known) == ORDER
        contexts, n = self.contexts(state), len(self.prior)
        slow = []
        for k, context in enumerate(contexts):
            counts = self.steady.get(context, [0.0] * n)
            most, base = (self.trust, self.prior[letter]) if k == 0 else (self.lean, slow[0])
            slow.append(None if context is None else (counts[letter] + most * base) / (sum(counts) + most))
        slow += [rules[0].mixed(*near, slow[0]) if linear else None for rules in self.rules]
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
                if sum(counts) > limit - 1e-6:
                    self.recent[context, m] = [0.5 * count for count in counts]
        fast += [rule.mixed(*near, p) if linear else None for rules in self.rules for rule in rules[1:]]
        q, self.quick = self.mix(self.quick, fast, self.share)
        for context in contexts:
            if context is not None:
                self.steady.setdefault(context, [0.0] * n)[letter] += 1.0
        for slowest, *others in self.rules if linear else ():
            for rule in (slowest, *others):
                rule.take(known, self.scores[letter])
            if len(slowest.rows) % AGAIN == 0:
                slowest.solve(*slowest.first)
                for rule in others:
                    rule.solve(slowest.coefficients, slowest.spread)
        self.letters.append(letter)
        old = max(self.ratio, 1.0)
        if old <= self.bound**0.1:
            self.since = position
        self.ratio = old * min(q / p, self.most)
        if old < self.bound**0.5 <= self.ratio:
            self.half = position
        return self.ratio >= self.bound
