"""What the campaign gives for the parameters of every public call, as text of Python in which {s} is a random number.

A new parameter needs a line in VALUES, a new class one in SELVES; a test tells which are missing.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

# By the name of the parameter, or of the call and the parameter where it means something else there: its kind, and
# values that are right. Whatever is not of its kind must be refused; "free" may be anything.
_VALUES = """
X = free: obs({s}) | text({s}) | words({s}) | ints({s}) | gaps({s}) | several({s}) | pandas({s}) | polars({s}) |
    iter(text({s})) | numbers({s}) | plane({s}) | frame({s}) | np.ones((9, 2)) | causal({s}) | machine({s})
x = free: [0, 1] * 20 | np.arange(40) % 3 | text({s})[:30] | numbers({s})
z = free: [1, 0] * 20 | None | np.arange(40) % 2
symbols = free: text({s}) | words({s}) | ints({s}) | gaps({s}) | several({s}) | pandas({s}) | polars({s}) |
    iter(text({s}))
lines = free: several({s}) | [text({s})]
signal = free: numbers({s}) | frame({s}) | pandas(5) | [numbers({s}), numbers(3)]
field = free: plane({s}) | [plane({s})]
pixels = free: pixels({s}) | frame({s})
image = free: pixels({s})
images = free: pixels({s}) | [pixels({s})]
signals = free: numbers({s}) | [numbers({s}), numbers(7)]
values = free: np.zeros((4, 5)) | plane({s}) | np.zeros((3, 4, 5), 'u1')
series = free: None | text({s})
past future max_past max_future step passes block min_count n_states k scale n_features cyclic_automaton.threshold
    random_machine.n_symbols bootstrap.n = whole: 1 | 2 | 3 | np.int64(2) | np.uint8(3)
observe.series.past observe.delays.past ComplexityFeatures.past = whole: 1 | 3 | np.int8(2) | 'auto'
chunks = whole: 7 | 50 | 1000 | np.int8(9)
window = whole: 100 | 500
forget = whole: 100
refit_after = whole: 50 | 1000
n = whole: 0 | 5 | 20
n_symbols = whole: 1 | 3 | 100
width = whole: 5 | 12
steps = whole: 3 | 8
rule = whole: 110 | 30
colours = whole: 2 | 3
radius = whole: 1 | 2
speed = whole: 0 | 1 | 2
position since bits = free: 5 | None
levels = whole: 2 | 4
start = free: None | 0 | 1
stop = free: None | 20
alpha = level: 0.01 | 0.5
theta = level: 0.95 | 1 | 0.6
level = free: 0.5 | None | 0.9
p = level: 0.5 | 0.3
q = level: 0.5 | 0.9
least = level: 0.1 | 0.0
delta = number: 0.05 | 0
atol = number: 1e-9 | 0.1
tau = number: 0.5 | 0
rtol = number: 1e-6
seconds = number: 30 | 0.5
indifference = number: 0.1 | 0
missed false shortage surplus = number: 1 | 3
coverage = level: 0.9 | 0.5
below = free: True | False
first = free: False | True
dates = free: None | np.array(['2024-01-01', '2024-01-02'], 'M8[D]')
inputs = free: None | 'hour' | numbers({s})
times = free: np.array(['2024-01-01', '2024-01-02'], 'M8[D]') | ['2024-01-31 23:59'] | pandas({s})
parts = free: 'hour' | ['weekday', 'month']
against = free: None | ['fixed', 'x'] | ('persistence', 'ar')
cutoff = number: 1e-9 | 0.01
fps = number: 10 | 5
threshold = number: 0.05 | 0.3
bandwidth = free: 'rule' | 'cv' | 0.5 | 'nearest'
z_bandwidth = number: 0.5
density = free: ds.Counts() | ds.Counts(3) | ds.Kernels('rule') | None
by = choice: 'decision' | 'prediction' | 'utility'
DecisionalStates.decide.by = choice: 'state' | 'x'
impossible Monitor.missing = choice: 'reset' | 'stay' | 'raise'
boundary = choice: 'periodic' | 'open' | 'reflect'
unsynchronised = choice: 'unknown' | 'likely'
colour = choice: 'next' | 'state'
test = choice: 'ks' | 'chi2'
constraints = choice: 'evidence' | 'all' | 'none'
order = choice: 'count' | 'random' | 'data' | 'index'
border = choice: 'interior' | 'reflect'
kind = choice: 'symbols' | 'signal' | 'field' | 'table'
kernel = free: 'gaussian' | 'epanechnikov'
transitions = free: None | 'centre'
neighbourhood = free: 'moore' | 'von_neumann'
missing = free: None | '0' | 9
sequences = free: None | True | False
family_wise joint difference include_present past_row_only subtract_min self_loops edge_labels with_error initial
    whole shared overwrite sliced named header deep variables DecisionalStates.events.initial = free: True | False
random_state rng = free: 0 | {s} | np.random.default_rng({s}) | None
seed = free: 0 | None
executor = free: None | POOL
progress = free: None | lambda text: None
match = free: ds.GTest(0.05) | None | ds.Variational(0.2) | ds.ChiSquare()
cluster = free: None | ds.clustering.Connect() | ds.clustering.Aggregate() | 'aggregate'
utility u1 u2 loss = free: ds.utility.zero_one() | ds.utility.table([[0, 0], [-3, 1]]) | [[0, 0], [-3, 1]] |
    ds.utility.squared_error() | ds.utility.absolute_error([0, 1]) | lambda y, z: -abs(float(y) - float(z)) |
    np.eye(2) | ds.utility.tolerant(0.1)
integrate = free: None | ds.utility.MonteCarlo(50, 0)
optimise = free: None | ds.utility.GlobalMaxima(n=8)
matrix = free: [[0, 0], [-3, 1]] | np.eye(2) | frame({s})
y = free: None | [0, 1] | 'ab'
path = free: '{s}.json' | '{s}.npy' | '{s}.png' | '{s}.csv' | '{s}.html' | '{s}.gif' | '{s}.zarr' | Path('{s}.svg')
name = free: 'x'
decision = thing: choice(1) | choice(2)
adapt = free: None | ds.Adapt(window=100, refit_after=50)
choice edges.choice = thing: choice({s})
causal other = thing: causal({s})
estimator = thing: causal({s}) | choice({s})
machine EpsilonMachine.is_isomorphic.other = thing: machine({s})
graph = thing: machine({s}).graph
selection = thing: selected({s})
states = thing: causal({s}).states_
local = free: causal({s}).local_complexity_
labels = free: [0, 1, 0] | np.arange(4)
weight = free: None | [1.0, 2.0, 1.0]
ax = free: None | axes(0)
axes = free: None | axes({s})
title = free: None | '<b>'
groups Monitor.load.decision = free: None | choice(1)
panels = free: None | ['states']
frame time = free: None | 0
raw = free: None | plane({s})
figure = thing: ds.plot.machine(machine({s}))
word = free: '0011' | [1, 2]
coupling temperature = free: 1.0 | 0.5 | np.float32(2)
cryptic most = whole: 1 | 10
past_end coupled_map_lattice.transient vortex_street.transient = whole: 0 | 1
side = whole: 16 | 32
viscosity growth = number: 0.001 | 0.5
decaying_turbulence.transient spacing = number: 0.1 | 0.5
reynolds = number: 50 | 120
vortex_street.shape = free: (24, 40) | [30, 24]
place = free: None | [2, 0, 1]
resolution = level: 0.1 | 0.5
BeliefMachine.epsilon_machine.loss = number: 0.01 | 0.1
BeliefMachine.steps = free: [[[0.5]], [[0.5]]] | ds.processes.mess3().steps
BeliefMachine.load.path = free: 'belief.json'
BeliefMachine.of.machine misread.machine = thing: machine({s})
BeliefMachine.entropy_rate.n BeliefMachine.beliefs.n BeliefMachine.statistical_complexity.n = whole: 100 | 200
mess3.x mess3.a = level: 0.3 | 0.4
random_hidden.n_symbols = whole: 1 | 3
statistical_complexity entropy_rate excess_entropy = free: (0.0, 1.0)
counts = free: None | [[50.0, 50.0]]
frequencies = free: [0.1, 0.2] | 0.3
shape = free: (6, 7) | [5]
column target = free: None | 0 | 'b'
a = free: [3, 4] | np.array([1.0, 0])
b = free: [5, 1]
symbol = free: 0 | '1' | None
lags weights = free: None | [1, 2]
mask = free: None | np.ones((12, 12), bool)
successors = free: None | [-1] * 40
samples = free: None | 20 | 'random'
pasts = free: (1, 2) | [3]
bounds = free: None | [(0, 1)]
volume = free: None | 1.0
outcomes = free: [0, 1] | ()
names = free: None | ['a', 'b']
alphabet = free: None | [0, 1] | '01'
emission = free: [[0.5, 0.5], [1, 0]]
targets = free: [[0, 1], [0, -1]]
source = free: [0, 1]
count = free: [3, 4]
delimiter = free: None | ',' | 'tab'
decimal = free: '.' | ','
variable = free: None | 'v'
key = free: None | 'k'
input_features page.field = free: None
asked = free: {{'Past': 3}}
command = free: 'decisional'
data = free: None | {{'Length': 5}}
warnings = free: () | ['<b>']
code = free: None | 'import x'
settings = free: {{'a': 1}}
base = free: '{s}'
cellular_automaton.initial cyclic_automaton.initial game_of_life.initial directed_percolation.initial = free: None |
    np.zeros(12, int) | np.arange(12) % 2 | np.zeros((5, 5), int)
directed_percolation.density = level: 1.0 | 0.4
game_of_life.density = level: 0.5
bootstrap.n_symbols = whole: 60 | 100
bootstrap.level = level: 0.9
image.neighbourhood = free: 'rounded5x5' | np.ones((3, 3))
read.by read.step = free: None | 1
read.path = free: 'in.csv' | 'in.txt' | 'in.npy' | 'in.png' | ['in.png', 'in.png']
read.missing = free: () | 'x'
EpsilonMachine.load.path = free: 'in.json'
Monitor.load.path = free: 'monitor.json'
read_utility.name = free: 'zero-one' | 'tolerant:1' | 'in.csv'
signal.name = free: 'value'
EpsilonMachine.transitions = free: [(0, 'a', 0, 1.0)]
Partition.refines.other = thing: ds.Partition(np.arange(3))
Monitor.same_model.other = thing: monitor({s})
TransitionGraph.matrix = free: np.eye(2) | [[0.5, 0.5], [1, 0]]
TransitionGraph.from_counts.target = free: [1, 0]
squared_error.y absolute_error.y tolerant.y = free: None | [0, 1.5]
Partition.weight = free: None | [1, 2, 1]
animate.values = free: np.zeros((3, 4, 5), 'u1')
write_values.values = choice: 'labels' | 'local_complexity'
page.choice = free: None | choice({s})
page.causal = free: None | causal({s})
page.machine = free: None | machine({s})
page.selection = free: None | selected({s})
page.title = free: '<i>'
light_cones.transitions = free: None | 'time'
elementary_ca.rule = whole: 110
cssr_result.alphabet = free: None | '012'
candidate = thing: selected({s}).candidates[-1]
plot.signal.signal = free: numbers({s})
Observations.field.values = free: np.zeros(5) | np.arange(30)
CausalStates.past DecisionalStates.past = free: None | 2 | 'auto'
Forecast.pdf.z Forecast.cdf.z Forecast.log_score.z Forecast.crps.z = free: 0.5 | [[-1], [0.5]] | np.float32(2)
Forecast.quantile.q = free: 0.5 | [[0.1], [0.9]] | 0
Forecast.probabilities.values = free: [0, 1.5] | np.arange(3)
"""

# What has the methods of each class.
_SELVES = """
CausalStates = causal({s}) | ds.CausalStates() | ds.CausalStates(past=2)
DecisionalStates = choice({s}) | ds.DecisionalStates(ds.utility.zero_one())
EpsilonMachine = machine({s})
BeliefMachine = ds.BeliefMachine.of(machine({s})) | ds.processes.mess3()
TransitionGraph = machine({s}).graph | choice(1).graph_
Monitor = monitor({s})
Observations = obs({s})
Partition = causal({s}).states_
ComplexityFeatures = ds.ComplexityFeatures(past=2)
Counts = ds.Counts()
Kernels = ds.Kernels('rule')
Selection = selected({s})
Mixture = selected({s}).predictor()
CssrResult = ds.baselines.cssr_result([text({s})], 2)
GTest = ds.GTest()
ChiSquare = ds.ChiSquare()
Bhattacharyya = ds.Bhattacharyya()
Evidence = ds.Evidence()
HarmonicMean = ds.HarmonicMean()
JensenShannon = ds.JensenShannon()
Variational = ds.Variational()
Adapt = ds.Adapt()
Refit = ds.Refit(5, 3, True, choice(1))
Candidate = selected({s}).chosen
Forecast = forecast({s} % 6) | forecast({s} % 6)[-1]
BitsPath = causal({s}).path()
Regret = choice({s}).regret(choice({s}).causal_.observations_) | choice(1).regret(text(6 * {s}), against=['fixed'])
Utility = ds.utility.zero_one()
Slack = ds.utility.Slack()
"""

# Classes whose parameters are looked at when they are used, and how they are.
_USED = """
CausalStates = {call}.fit(ds.observe.series(text({s}), 2))
DecisionalStates = {call}.fit(causal({s}))
ComplexityFeatures = {call}.fit_transform(several({s}), np.arange(len(several({s}))) % 2)
Counts = ds.CausalStates(density={call}).fit(ds.observe.series(text({s}), 2))
Kernels = ds.CausalStates(density={call}).fit(ds.observe.delays(numbers({s}), 1))
clustering.Aggregate = ds.CausalStates(cluster={call}).fit(ds.observe.series(text({s}), 2))
utility.MonteCarlo = ds.DecisionalStates(ds.utility.squared_error(), integrate={call}).fit(causal(3))
utility.GlobalMaxima = ds.DecisionalStates(ds.utility.squared_error(), optimise={call}).fit(causal(3))
utility.SamplePoints = ds.DecisionalStates(ds.utility.squared_error(), integrate={call}).fit(causal(3))
GTest = ds.CausalStates(match={call}).fit(ds.observe.series(text({s}), 2))
ChiSquare = ds.CausalStates(match={call}).fit(ds.observe.series(text({s}), 2))
Bhattacharyya = ds.CausalStates(match={call}).fit(ds.observe.series(text({s}), 2))
HarmonicMean = ds.CausalStates(match={call}).fit(ds.observe.series(text({s}), 2))
JensenShannon = ds.CausalStates(match={call}).fit(ds.observe.series(text({s}), 2))
Variational = ds.CausalStates(match={call}).fit(ds.observe.series(text({s}), 2))
Evidence = ds.CausalStates(match={call}).fit(ds.observe.delays(numbers({s}), 1))
Monitor.watch = list({call})
"""

# What the rooms of the library ask of each other, and results that it makes: these are given what is right only.
_GIVEN_RIGHT = """
ComplexityFeatures.compiled = ds.ComplexityFeatures().compiled(5)
ComplexityFeatures.level = ds.ComplexityFeatures().level(5)
GTest.compiled = ds.GTest().compiled(5)
GTest.level = ds.GTest().level(5)
ChiSquare.compiled = ds.ChiSquare().compiled(5)
ChiSquare.level = ds.ChiSquare().level(5)
Evidence.level = ds.Evidence().level()
Bhattacharyya.compiled = ds.Bhattacharyya().compiled(5)
Bhattacharyya.level = ds.Bhattacharyya().level(5)
HarmonicMean.compiled = ds.HarmonicMean().compiled(5)
HarmonicMean.level = ds.HarmonicMean().level(5)
JensenShannon.compiled = ds.JensenShannon().compiled(5)
JensenShannon.level = ds.JensenShannon().level(5)
Variational.compiled = ds.Variational().compiled(5)
Variational.level = ds.Variational().level(5)
CausalStates.at_observations = causal(1).at_observations(causal(1).states_.labels, -1)
EpsilonMachine.to_sofic = callable(machine(1).to_sofic)
EpsilonMachine.from_sofic = callable(machine(1).from_sofic)
EpsilonMachine.to_hmmlearn = callable(machine(1).to_hmmlearn)
CausalStates.check_fitted = causal(1).check_fitted()
CausalStates.is_fitted = causal(1).is_fitted()
CausalStates.with_observations = causal(1).with_observations(causal(1).observations_)
CausalStates.merge = causal(1).merge(causal(7))
DecisionalStates.check_fitted = choice(1).check_fitted()
DecisionalStates.is_fitted = choice(1).is_fitted()
DecisionalStates.with_observations = choice(1).with_observations(causal(1).observations_)
DecisionalStates.fit_learnt = choice(1).fit_learnt(machine(1), 50)
DecisionalStates.causal_states = choice(1).causal_states(theta=0.9)
Counts.estimate = ds.Counts().estimate(obs({s} * 7))
Kernels.estimate = ds.Kernels('rule').estimate(obs(7 * {s} + 3))
Kernels.model = ds.Kernels('rule').model(obs(3))
Kernels.check = ds.Kernels('rule').check(obs(3))
Kernels.with_widths = ds.Kernels(0.5).with_widths(obs(3), bandwidths.Widths(np.full(2, 0.5), 0.5))
Counts.set_params = ds.Counts().set_params(min_count=3)
Kernels.set_params = ds.Kernels().set_params(joint=True)
Observations = ds.Observations()
Observations.frame = obs({s}).frame(row=np.arange(len(obs({s}))))
Observations.words = obs(0).words(np.arange(2))
Observations.pieces = list(obs({s}).pieces())
Observations.tally = obs({s}).tally()
Observations.coded = callable(ds.observe.light_cones(np.zeros((9, 9)), past=1, future=1).coded)
Change = str(ds.Change(5, 3, 40.0))
Event = str(ds.Event(5, 0, 1, (0,), (1,), 0.5, 1.0))
Refit = str(ds.Refit(5, 3, True, choice(1)))
clustering.Within = ds.CausalStates(cluster=ds.clustering.Within(np.zeros(4, int),
    ds.clustering.Connect())).fit(pairs(3))
selection.Bootstrap = ds.selection.bootstrap(machine(2), 60, n=2, rng=0)
selection.Candidate = selected(1).chosen
selection.GreyScale = ds.selection.grey_scale(pixels({s}))
selection.Selection = selected({s})
selection.BeliefCandidate = ds.selection.select_beliefs(text({s})).candidates[0]
selection.BeliefSelection = ds.selection.select_beliefs(text({s}))
Candidate.equals = selected(1).chosen.equals(selected(2).chosen)
utility.Optimum = ds.utility.solve(np.array([[0.5, 0.5], [0.9, 0.1]]), [0, 1], ds.utility.zero_one(),
    ds.utility.Slack())
utility.solve = ds.utility.solve(np.array([[0.5, 0.5], [0.9, 0.1]]), [0, 1], ds.utility.zero_one(),
    ds.utility.Slack())
utility.Slack = ds.utility.Slack(1e-6)
Slack.error = ds.utility.Slack().error(np.array([[0.5, 0.5], [0.9, 0.1]]))
Slack.smoothed = ds.utility.Slack().smoothed(np.array([0.5, 0.9]), None)
Slack.rows = ds.utility.Slack().rows(slice(1))
Slack.smooth = ds.utility.Slack().smooth(np.array([[0.5, 0.5], [0.9, 0.1]]))
utility.Utility = ds.utility.as_utility(np.eye(2))
Utility.best = ds.utility.zero_one().best(np.array([[0.5, 0.5], [0.9, 0.1]]), [0, 1], ds.utility.Slack())
Utility.bound = ds.utility.zero_one().bound([0, 1])
Utility.candidates = list(ds.utility.zero_one().candidates([0, 1]))
Utility.closed_form = ds.utility.squared_error().closed_form(np.array([[0.5, 0.5], [0.9, 0.1]]), [0.0, 1.0],
    ds.utility.Slack())
Utility.matrix = ds.utility.zero_one().matrix([0, 1], [0, 1])
baselines.CssrResult = ds.baselines.cssr_result([text({s})], 2)
report.write = ds.report.write('{s}.html', title='a', asked={{}}, command='b', causal=causal({s}))
clustering.Connect = ds.CausalStates(cluster=ds.clustering.Connect()).fit(obs({s}))
ComplexityFeatures.get_feature_names_out = ds.ComplexityFeatures().get_feature_names_out()
"""

# What anyone might give for anything; {_} is a blank.
_JUNK = """
None True False 0 -1 1 3 2.5 -0.0 1e308 1e-320 float('nan') float('inf') -float('inf') 2**63 2**64 -2**70 10**18
10**400 '' 'x' '0' '1' 'auto' 'none' '\\0' '/' '.' '~' '-' 'a'*3000 '\\ud800' b'' b'\\xff' b'01' [] [[]] [None] [1]
[1.5] [[1,2],[3]] [0,'a',None] ['a','b'] [float('nan')]*5 (1,2) () {{}} {{'a':1}} {{0:[1,2]}} set() {{1,2}}
frozenset() range(5) range(0) iter([1,2,3]) (i{_}for{_}i{_}in{_}'ab') object() int ds.Counts lambda{_}*a:1
lambda{_}*a:None broken print 1j 1+0j np.int8(3) np.float32(0.5) np.bool_(True) np.nan np.str_('x') np.array([])
np.array(5) np.zeros((2,2,2)) np.zeros((0,3)) np.array([1,np.nan,2]) np.array([1e308,-1e308]*9)
np.array(['a','b']*9) np.array([None,1],object) np.array([[1,2],[3,4]]) np.ones(5,complex)
np.array(['2024-01-01'],'M8[D]') np.timedelta64(3,'h') np.ma.masked np.ma.masked_all(5)
np.ma.array([1,2,3,1,2],mask=[0,1,0,0,0]) np.arange(30)%3 np.arange(30)%3*1.0 np.zeros(30) np.full(30,np.inf)
np.zeros((30,30),int) np.random.default_rng(0).normal(size=(30,3)) np.rec.array([(1,2.0)]) memoryview(b'0101'*9)
bytearray(b'01'*20) text({s}) words({s}) ints({s}) gaps({s}) several({s}) numbers({s}) plane({s}) pixels({s})
obs({s}) pairs({s}) causal({s}) choice({s}) machine({s}) monitor({s}) selected({s}) pandas({s}) frame({s})
polars({s}) ds.CausalStates() ds.DecisionalStates(None) ds.GTest() ds.Kernels() ds.utility.zero_one() ds.processes
ds Path('x') Path('/nonexistent/x') datetime.date(2024,1,1) decimal.Decimal('0.1') fractions.Fraction(1,3)
slice(3) ... type(None) [[0,1],[1,0]] [[[0,1],[1,0]]] [text({s}),5] [[None]] {{'a':text({s})}}
"""


@dataclass(frozen=True)
class Values:
    """What a parameter may be: texts of values that are right, and the kind of all others that are."""

    kind: str
    good: tuple[str, ...]

    def refuses(self, value: Any) -> bool:
        """Whether a value surely cannot be meant."""
        whole = isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.timedelta64))
        number = whole or isinstance(value, (float, np.floating))
        if repr(value) in self.good:
            return False
        if self.kind == "whole":
            return not (whole and value >= 0)
        if self.kind == "number":
            return not (number and abs(value) < np.inf)
        if self.kind == "level":
            return not (number and 0 <= value <= 1)
        if self.kind == "choice":
            return not isinstance(value, str) or repr(str(value)) not in self.good
        if self.kind == "thing":
            return isinstance(value, (int, float, str, bytes, list, type, set, range))
        return False


def entries(table: str) -> dict[str, str]:
    """The entries of a table, by each of their names; lines that begin with a blank go on."""
    lines = table.strip().replace("\n    ", " ").split("\n")
    found = dict[str, str]()
    for names, _, entry in (line.partition(" = ") for line in lines):
        found |= dict.fromkeys(names.split(), entry)
    return found


def _values(entry: str) -> Values:
    kind, _, good = entry.partition(": ")
    return Values(kind, tuple(good.split(" | ")))


VALUES = {name: _values(entry) for name, entry in entries(_VALUES).items()}
SELVES = {name: entry.split(" | ") for name, entry in entries(_SELVES).items()}
USED, GIVEN_RIGHT = entries(_USED), entries(_GIVEN_RIGHT)
JUNK = [item.replace("{_}", " ") for item in _JUNK.split()]
