"""Slow, literal versions with dicts and loops: the oracle of the tests."""

from __future__ import annotations

import math
from itertools import product

# ---------------------------------------------------------------------------------------------- graphs
# A machine is a dict state -> {symbol: (target, probability)}; states are numbers.


def as_dict(machine):
    """Return an EpsilonMachine as a dict of dicts."""
    result = {i: {} for i in range(machine.n_states)}
    for i in range(machine.n_states):
        for a, symbol in enumerate(machine.alphabet):
            if machine.emission[i, a] > 0:
                result[i][symbol] = (int(machine.targets[i, a]), float(machine.emission[i, a]))
    return result


def edges(machine):
    """Return state -> {target: probability}."""
    result = {}
    for i, row in machine.items():
        result[i] = {}
        for target, p in row.values():
            result[i][target] = result[i].get(target, 0.0) + p
    return result


def reach(after):
    """The elements that each one leads to by one step or more, given those after each."""
    found = {}
    for i in after:
        found[i], todo = set(), list(after[i])
        while todo:
            j = todo.pop()
            if j not in found[i]:
                found[i].add(j)
                todo += after[j]
    return found


def closed_classes(chain):
    """Closed classes of state -> {target: probability}, by reachability."""
    reach = {}
    for i in chain:
        seen, todo = {i}, [i]
        while todo:
            for j in chain[todo.pop()]:
                if j not in seen:
                    seen.add(j)
                    todo.append(j)
        reach[i] = seen
    classes = set()
    for i in chain:
        if chain[i] and all(i in reach[j] and chain[j] for j in reach[i]):
            classes.add(tuple(sorted(reach[i])))
    return sorted(classes)


def stationary(chain, start=None, rounds=20000):
    """Power iteration of the lazy chain, which has the same stationary distribution and no period."""
    p = dict.fromkeys(chain, 1.0 / len(chain)) if start is None else dict(start)
    for _ in range(rounds):
        after = dict.fromkeys(chain, 0.0)
        for i, mass in p.items():
            after[i] += mass / 2
            for j, q in chain[i].items():
                after[j] += mass * q / 2
        change = sum(abs(after[i] - p[i]) for i in chain)
        p = after
        if change < 1e-15:
            break
    inside = {i for members in closed_classes(chain) for i in members}
    total = sum(p[i] for i in inside)
    return {i: p[i] / total if i in inside else 0.0 for i in chain}


def update(machine, belief, symbol):
    """Return P(symbol) and the belief after it, {} when it is impossible."""
    after = {}
    for i, mass in belief.items():
        if mass > 0 and symbol in machine[i]:
            target, p = machine[i][symbol]
            if mass * p > 0:
                after[target] = after.get(target, 0.0) + mass * p
    total = sum(after.values())
    return total, {i: mass / total for i, mass in after.items()} if total > 0 else {}


def filter(machine, home, symbols, start=None, impossible="reset", unsynchronised="unknown"):
    """Return the state after each symbol, and the beliefs."""
    belief = {i: p for i, p in home.items() if p > 0} if start is None else {start: 1.0}
    states, beliefs = [], []
    for symbol in symbols:
        total, after = update(machine, belief, symbol)
        lost = False
        if total > 0:
            belief = after
        elif impossible == "raise":
            raise ValueError
        elif impossible == "reset":
            total, after = update(machine, home, symbol)
            lost = total == 0
            belief = after if total > 0 else {i: p for i, p in home.items() if p > 0}
        # States that are hardly probable are given up where that leaves a single one.
        left = [i for i, p in belief.items() if p > 2.0**-50]
        belief = {left[0]: 1.0} if len(left) == 1 else belief
        top = max(belief.values())
        likely = min(i for i, p in belief.items() if p >= top - 1e-12)
        known = len(belief) == 1 or unsynchronised == "likely"
        states.append(likely if known and not lost else -1)
        beliefs.append(belief)
    return states, beliefs


def predict_proba(machine, beliefs, alphabet):
    """Return the distribution of the next symbol under each belief."""
    rows = []
    for belief in beliefs:
        row = []
        for symbol in alphabet:
            row.append(sum(mass * machine[i].get(symbol, (0, 0.0))[1] for i, mass in belief.items()))
        rows.append(row)
    return rows


def log_likelihood(machine, home, symbols, start=None):
    """Sum of the log-probabilities in bits of each symbol given those before."""
    belief = dict(home) if start is None else {start: 1.0}
    result = 0.0
    for symbol in symbols:
        total, belief = update(machine, belief, symbol)
        if total == 0:
            return -math.inf
        result += math.log2(total)
    return result


def fillings(symbols, letters):
    """All that a sequence may have been whose missing symbols, None, were some of the letters."""
    return product(*([symbol] if symbol is not None else letters for symbol in symbols))


def filled(machine, home, symbols, letters, start=None):
    """log2-probability of the known symbols, each given all before, and P(state) after all of them; by enumeration.

    That the missing ones were some of the letters is given.
    """
    bits, chances, belief = 0.0, [1.0], dict(home) if start is None else {start: 1.0}
    for n in range(1, len(symbols) + 1):
        belief = {}
        for word in fillings(symbols[:n], letters):
            p, after = 1.0, dict(home) if start is None else {start: 1.0}
            for symbol in word:
                chance, after = update(machine, after, symbol)
                p *= chance
            for i, q in after.items():
                belief[i] = belief.get(i, 0.0) + p * q
        chances.append(sum(belief.values()))
        if chances[-1] == 0.0:
            return -math.inf, {}
        if symbols[n - 1] is not None:
            bits += math.log2(chances[-1] / chances[-2])
    return bits, {i: p / chances[-1] for i, p in belief.items()}


def block_entropies(machine, home, alphabet, longest):
    """H(L) for L = 0..longest, by enumeration of all words."""
    result = []
    for length in range(longest + 1):
        h = 0.0
        for word in product(alphabet, repeat=length):
            p = 2.0 ** log_likelihood(machine, home, word)
            if p > 0:
                h -= p * math.log2(p)
        result.append(h)
    return result


def excess_entropy(machine, home, alphabet, entropy_rate, length):
    """Bounds of E: H(L) - h L below, and above by what L symbols leave unknown of the state they lead to.

    E - (H(L) - h L) = I[S_0; X_L... | X_0...X_L-1], and S_0 acts on X_L... through S_L only.
    """
    low = block_entropies(machine, home, alphabet, length)[-1] - entropy_rate * length
    unknown = 0.0
    for word in product(alphabet, repeat=length):
        p, belief = 1.0, home
        for symbol in word:
            total, belief = update(machine, belief, symbol)
            p *= total
            if p == 0:
                break
        if p > 0:
            unknown -= p * sum(q * math.log2(q) for q in belief.values() if q > 0)
    return low, low + unknown


def posterior(counts):
    """Probabilities of symbols in each state, and of new ones, by the rule that foretells each count best."""
    symbols, n = len(counts[0]), sum(map(sum, counts))
    shares = [(sum(row[s] for row in counts) + 1 / symbols) / (n + 1) for s in range(symbols)]
    rules = []
    for base, strength in (
        (shares, [max(sum(c > 0 for c in row), 1) for row in counts]),
        ([1 / symbols] * symbols, [0.5 * symbols] * len(counts)),
    ):
        bits = 0.0
        for row, extra in zip(counts, strength, strict=True):
            for s, c in enumerate(row):
                if c > 0:
                    bits += c * math.log2((max(c - 1, 0) + extra * base[s]) / (sum(row) - 1 + extra))
        rules.append((bits, base, strength))
    _, base, strength = rules[0] if rules[0][0] >= rules[1][0] else rules[1]
    known, new = [], []
    for row, extra in zip(counts, strength, strict=True):
        new.append(extra / (sum(row) + extra) * symbols / (n + symbols))
        known.append([(c + extra * base[s]) / (sum(row) + extra) * (1 - new[-1]) for s, c in enumerate(row)])
    return known, new


def smooth_log_likelihood(machine, symbols):
    """Bits of symbols that a machine with counts foretells; its belief begins anew after what it has not seen.

    A missing symbol, None, costs nothing and may have been any.
    """
    known, new = posterior(machine.counts.tolist())
    home = machine.stationary if machine.stationary.any() else machine.weights
    belief, bits = list(home), 0.0
    for s in symbols:
        columns = [a for a, letter in enumerate(machine.alphabet) if s is None or letter == s]
        if s is not None:
            chances = [known[i][columns[0]] if columns else new[i] for i in range(len(belief))]
            bits += math.log2(sum(b * p for b, p in zip(belief, chances, strict=True)))
        for start in (belief, home):
            after = [0.0] * len(belief)
            for (i, b), a in product(enumerate(start), columns):
                if machine.targets[i][a] >= 0:
                    after[machine.targets[i][a]] += b * machine.emission[i][a]
            if sum(after) > 0:
                break
        belief = [a / sum(after) for a in after] if sum(after) > 0 else list(home)
    return bits
