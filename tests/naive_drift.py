"""Slow literal twin of the monitor that adapts: dicts of words, lists of symbols, one symbol at a time."""

from math import log2

import numpy as np

import decisional as ds
from decisional.data import sequences as reading
from decisional.data.alphabet import ordered
from decisional.decisions.decisional_model import DecisionalModel
from decisional.machines import walks
from decisional.states.search import SymbolSeries
from decisional.streams.learner import template

GAP = object()
OTHER = object()


class Expert:
    """Counts of symbols after contexts, halved when those of a context reach the limit."""

    def __init__(self, limit, n_symbols):
        self.limit, self.n_symbols, self.counts = limit, n_symbols, {}

    def chance(self, context, symbol):
        seen = self.counts.get(context, {})
        return (seen.get(symbol, 0) + 1 / self.n_symbols) / (sum(seen.values()) + 1)

    def learn(self, context, symbol):
        seen = self.counts.setdefault(context, {})
        seen[symbol] = seen.get(symbol, 0) + 1
        if sum(seen.values()) >= self.limit:
            self.counts[context] = {a: n // 2 for a, n in seen.items()}


class Test:
    """The machine against a mixture of experts, by the running maximum of products of likelihood ratios."""

    __test__ = False

    def __init__(self, machine, n, adapt, stay, orders=5, limits=(64, 2048), switch=1 / 2048):
        self.machine, self.adapt, self.stay, self.switch = machine, adapt, stay, switch
        self.n_symbols = len(machine.alphabet) + 1
        self.home = {i: p for i, p in enumerate(walks.prior(machine).tolist()) if p > 0}
        self.belief = dict(self.home)
        self.forgetting = 1.0 if adapt.forget is None else 0.5 ** (1.0 / adapt.forget)
        self.fixed = self.prior_counts(n)
        self.counts, self.unit = self.prior_counts(n), 1.0
        self.frozen = None if adapt.forget is None else machine.emission.tolist()
        self.experts = [(d, Expert(m, self.n_symbols)) for d in [*range(orders), "state"] for m in limits]
        self.weights = [1 / len(self.experts)] * len(self.experts)
        self.past = []
        self.ratio = self.gain = 1.0
        self.since = self.half = self.moved_since = 0

    def prior_counts(self, n):
        weight = self.machine.stationary if self.machine.weights is None else self.machine.weights
        seen = {}
        for i, row in enumerate(self.machine.emission.tolist()):
            for a, p in zip(self.machine.alphabet, row, strict=True):
                seen[i, a] = max(n * float(weight[i]), 8.0) * p
            seen[i, OTHER] = 0.0
        return seen

    def chance(self, i, symbol):
        total = sum(self.counts[i, a] for a in [*self.machine.alphabet, OTHER])
        return (self.counts[i, symbol] + 1 / self.n_symbols) / (total + 1)

    def target(self, i, symbol):
        return -1 if symbol is OTHER else int(self.machine.targets[i, self.machine.alphabet.index(symbol)])

    def follow(self, belief, chance, symbol):
        after = {}
        for i, p in belief.items():
            j = self.target(i, symbol)
            if j >= 0:
                after[j] = after.get(j, 0.0) + p * chance[i]
        total = sum(after.values())
        return {j: p / total for j, p in after.items()}

    def gap(self):
        self.belief, self.past = dict(self.home), []

    def mix(self, symbol):
        """Probability of a symbol under the experts, which then learn it."""
        state = next(iter(self.belief)) if len(self.belief) == 1 else None
        awake = {}
        for k, (d, expert) in enumerate(self.experts):
            if d == "state" and state is not None:
                awake[k] = expert, state
            elif d != "state" and len(self.past) >= d:
                awake[k] = expert, tuple(self.past[len(self.past) - d :])
        chances = {k: expert.chance(context, symbol) for k, (expert, context) in awake.items()}
        q = sum(self.weights[k] * p for k, p in chances.items()) / sum(self.weights[k] for k in awake)
        n = len(self.weights)
        self.weights = [
            (1 - self.switch) * w * chances.get(k, q) / q + self.switch / n for k, w in enumerate(self.weights)
        ]
        for expert, context in awake.values():
            expert.learn(context, symbol)
        self.past = [*self.past, symbol][-10:]
        return q

    def predict(self, symbol):
        """Probabilities of a symbol by the counts, and in force, and the belief after it."""
        chance = {i: self.chance(i, symbol) for i in range(self.machine.n_states)}
        state = next(iter(self.belief)) if len(self.belief) == 1 else -1
        known = state >= 0 and self.target(state, symbol) >= 0
        fixed = 0.0
        if self.frozen is not None and symbol is not OTHER:
            column = self.machine.alphabet.index(symbol)
            if known:
                fixed = self.frozen[state][column]
            else:
                chance = {i: max(p, self.frozen[i][column]) for i, p in chance.items()}
        p = sum(b * chance[i] for i, b in self.belief.items())
        for i, b in self.belief.items():
            self.counts[i, symbol] += b * chance[i] / p
        after = self.follow(self.belief, chance, symbol)
        if not after and not self.stay[0]:
            after = self.follow(self.home, chance, symbol) or dict(self.home)
        self.belief = after or self.belief
        self.counts = {edge: n * self.forgetting for edge, n in self.counts.items()}
        return p, fixed

    def take(self, symbol, position):
        """Take a symbol; return "lost", "moved" or None."""
        if symbol is GAP:
            if not self.stay[1]:
                self.gap()
            return None
        symbol = symbol if symbol in self.machine.alphabet else OTHER
        q = self.mix(symbol)
        p, fixed = self.predict(symbol)
        bound = 1 / self.adapt.alpha
        if self.ratio <= 1:
            self.ratio, self.since = 1.0, position
        old, self.ratio = self.ratio, self.ratio * q / max(p, fixed)
        if old < bound**0.5 <= self.ratio:
            self.half = position
        if self.ratio >= bound:
            return "lost"
        if fixed > 0:
            if self.gain <= 1:
                self.gain, self.moved_since = 1.0, position
            self.gain *= p / fixed
            if self.gain >= bound:
                return "moved"
        return None

    def move(self):
        machine = self.machine
        edges = machine.targets >= 0
        counts = np.array([[self.counts[i, a] for a in machine.alphabet] for i in range(machine.n_states)])
        seen = np.where(edges, counts, 0.0).sum(axis=1, keepdims=True)
        emission = np.where(seen > 0, np.where(edges, counts, 0.0) / np.where(seen > 0, seen, 1.0), machine.emission)
        total = counts.sum(axis=1) + [self.counts[i, OTHER] for i in range(machine.n_states)]
        self.machine = ds.EpsilonMachine.from_arrays(
            machine.targets, emission, machine.alphabet, machine.names, total / total.sum()
        )
        self.home = {i: p for i, p in enumerate(walks.prior(self.machine).tolist()) if p > 0}
        self.frozen, self.gain = self.machine.emission.tolist(), 1.0
        return total.sum()


class Monitor:
    """Changes and refits of a stream, with the position of each; decisions are the business of another twin."""

    def __init__(self, decision, adapt, stay):
        self.adapt, self.stay, self.template = adapt, stay, template(decision)
        self.test = Test(decision.machine_, adapt.refit_after, adapt, stay)
        self.recent, self.position, self.learning = [], 0, False
        self.needed, self.due, self.had, self.refit = adapt.refit_after, 0, 0, None

    def push(self, symbol):
        self.recent = [*self.recent, symbol][-self.adapt.memory :]
        place, self.position = self.position, self.position + 1
        self.had += symbol is not GAP
        if self.learning:
            return self.learn(place) if self.had >= self.needed else None
        what = self.test.take(symbol, place)
        if what == "lost":
            since = self.test.since
            poor = self.refit is not None and since - self.refit <= place - since
            self.needed = min(2 * self.needed, self.adapt.memory) if poor else self.adapt.refit_after
            self.start, self.learning, self.due = self.test.half, True, 0
            self.had = sum(s is not GAP for s in self.recent[-(place + 1 - self.start) :])
            return "change", place, self.test.since, log2(self.test.ratio)
        if what == "moved":
            since = self.test.moved_since
            self.test.move()
            return "moved", place, since, self.test.machine
        return self.learn(place) if 0 < self.due <= self.had else None

    def learn(self, place):
        symbols = self.recent[-(place + 1 - self.start) :]
        # In an order that depends on the symbols alone, not on which came first.
        letters = tuple(ordered(list(dict.fromkeys(s for s in symbols if s is not GAP))))
        parts = [[]]
        for symbol in symbols:
            if symbol is GAP:
                parts.append([])
            else:
                parts[-1].append(letters.index(symbol))
        parts = [np.array(part) for part in parts if part]
        selected = ds.selection.select(parts, sequences=True)
        self.due = 2 * max(self.due, self.needed)
        self.due = self.due if self.due <= self.adapt.memory else 0
        gain = self.length(parts, letters) - selected.chosen.description_length
        if not self.learning and gain < log2(1 / self.adapt.alpha):
            return None
        found = selected.machine
        machine = ds.EpsilonMachine.from_arrays(found.targets, found.emission, letters, found.names, found.weights)
        self.test = Test(machine, self.had, self.adapt, self.stay)
        loose, self.test.adapt = self.test.adapt, ds.Adapt(window=10, refit_after=10, alpha=1e-300)
        for i, symbol in enumerate(symbols):
            self.test.take(symbol, i)
        self.test.adapt, self.test.counts = loose, self.test.prior_counts(self.had)
        self.test.ratio = self.test.gain = 1.0
        self.learning, self.refit, self.recent = False, place, symbols
        return "refit", place, self.start, DecisionalModel(**self.template).fit_learnt(machine, self.had)

    def length(self, parts, letters):
        machine = self.test.machine
        targets, emission = np.full((machine.n_states, len(letters)), -1), np.zeros((machine.n_states, len(letters)))
        for j, letter in enumerate(letters):
            if letter in machine.alphabet:
                k = machine.alphabet.index(letter)
                targets[:, j], emission[:, j] = machine.targets[:, k], machine.emission[:, k] * machine.stationary
        source = reading.read(parts, sequences=True)
        return SymbolSeries(source.raw, source.lut, source.bounds, len(letters)).drive(targets, emission).length
