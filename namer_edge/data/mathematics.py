"""Labels of common mathematics, from one sign to a line, drawn from a grammar by a seed.

    namer-edge data mathematics -o MATHEMATICS.tsv

Written for this project: no label of a data set was used. The file is one for the `labels` of a
training configuration, and enough for one without formulas of its own.
"""

import argparse
from pathlib import Path

import numpy as np

from namer_edge_runtime.atomic import atomic_file
from namer_edge_runtime.errors import LatexError
from namer_edge_runtime.formula.nodes import to_nodes
from namer_edge_runtime.formula.tokens import normalize
from namer_edge_runtime.formula.vocabulary import Vocabulary
from namer_edge_runtime.verbs.options import positive

from .grammar import Grammar

SUMMARY = "draw labels of common mathematics from a grammar"
LONGEST = 48
"""Most visual tokens of a label."""

_RULES = r"""
digit * 3 = 1 | 2 | 3
digit * 2 = 0 | 4 | 5 | 6
digit = 1 | 2 | 7 | 8 | 9 | 7 | 8 | 9
whole * 8 = <digit>
whole * 3 = 1 <digit> | 2 <digit> | <digit> 0
whole = <digit> <digit> <digit> | 1 0 0 | 1 <digit> <digit> <digit>
number * 12 = <whole>
number = <whole> . <digit> | 0 . <digit> | <whole> . <digit> <digit> | 0 . <digit> <digit> <digit>
common * 5 = x
common * 4 = y | a | n
common * 3 = b | z | t | i | k
common * 2 = c | m | j | p | q | r | u | v | f
common = d | e | g | h | l | o | s | w
letter * 3 = <common>
letter = a | b | c | d | e | f | g | h | i | j | k | l | m | n | p | q | r | s | t | u | v | w | x
letter = y | z
capital * 2 = A | B | C | P | X | F | S | V | R | N | E | T | M
capital = D | G | H | I | J | K | L | O | Q | U | W | Y | Z
greek * 4 = \alpha | \beta | \theta | \pi | \lambda | \gamma | \phi | \mu | \sigma
greek * 2 = \delta | \epsilon | \omega | \Delta | \rho
greek = \tau | \psi | \xi | \eta | \nu | \zeta | \kappa | \Gamma | \Omega | \Phi | \Psi | \varphi
greek = \chi | \Lambda | \Sigma | \Theta
index * 4 = <digit> | n | i | k | <letter>
index * 2 = 0 | 1 | j | m | t
index = <letter> + 1 | n - 1 | n + 1 | <letter> <letter> | <digit> <digit> | i j | <capital>
index = <letter> , <letter> | <greek> | k - 1 | i = <digit> | <letter> _ { <digit> }
power * 8 = 2
power * 3 = 3 | n | <digit>
power * 2 = <letter> | - 1 | <letter> + <digit> | 2 <letter> | - <letter> | <number>
power = n - 1 | k + 1 | \frac { 1 } { 2 } | \frac { <digit> } { <digit> } | <letter> / <digit>
power = <letter> ^ { 2 } | - <number> <letter> | i <greek> | ( <letter> - <digit> ) | \ast | \prime
name * 6 = <common>
name * 2 = <letter> | <capital> | <greek>
sub * 4 = <name> _ { <index> }
sub = <capital> _ { <index> } | <letter> _ { <index> } ^ { <power> }
raised * 6 = <name> ^ { <power> }
raised = <number> ^ { <power> } | ( <sum> ) ^ { <power> } | e ^ { <power> } | 2 ^ { <power> }
simple * 6 = <name> | <number>
simple * 2 = <sub> | <raised>
simple = <whole> <common>
trig = \sin | \cos | \tan
function * 3 = <trig>
function = \log | \ln | \log _ { <whole> }
called * 3 = f | g
called = <common> | <capital> | <greek> | f _ { <index> } | F | P | f ^ { - 1 }
argument * 3 = x | <common> | <simple>
argument = <sum> | <simple> , <simple> | <common> , <common> | <greek>
group * 4 = ( <sum> )
group = [ <sum> ] | \vert <sum> \vert | \vert <name> \vert | ( <simple> ) | \{ <sum> \}
over * 5 = <simple>
over * 3 = <sum>
over = <product> | 1 | <term>
under * 6 = <simple>
under * 2 = <sum> | <number>
under = <product> | <raised> | <root>
fraction * 3 = \frac { <over> } { <under> }
fraction * 2 = \frac { <simple> } { <simple> } | \frac { 1 } { <simple> }
fraction * 2 = \frac { <whole> } { <whole> }
root * 3 = \sqrt { <simple> }
root * 2 = \sqrt { <sum> } | \sqrt { <whole> }
root = \sqrt { <fraction> } | \sqrt [ <digit> ] { <simple> } | \sqrt { <raised> + <raised> }
applied * 3 = <function> <simple> | <function> ( <argument> ) | <called> ( <argument> )
applied = <trig> ^ { 2 } <name> | <trig> <greek> | <function> <fraction>
applied = <called> ^ { \prime } ( <common> )
applied = <called> ^ { \prime \prime } | <function> <whole> <name> | <trig> ^ { - 1 } <name>
plain * 6 = <simple>
plain * 3 = <raised> | <sub>
plain * 2 = <whole> <raised> | <whole> <name> <name> | <name> <name>
product * 4 = <whole> <raised> | <whole> <name> | <name> <name> | <simple> <group>
product * 2 = <simple> \times <simple> | <simple> \cdot <simple> | <group> <group> | <name> <raised>
product = <raised> <raised> | <whole> <applied> | <fraction> <name> | <name> ! | <simple> / <simple>
product = <simple> \div <simple> | <whole> \times <whole> | <sub> <sub> | <whole> <root>
product = <name> <applied>
product = <fraction> <group> | <name> <name> <name>
term * 8 = <simple>
term * 4 = <product> | <fraction>
term * 2 = <applied> | <root> | <group>
sign * 12 = + | -
sign = \pm | \times | \cdot | \div
sum * 6 = <plain> <sign> <plain>
sum * 2 = <plain> <sign> <plain> <sign> <plain>
sum = <plain> + <product> | <plain> - <fraction> | - <plain> + <plain> | 1 - <raised>
expression * 5 = <term> | <term> <sign> <term>
expression * 3 = <term> <sign> <term> <sign> <term> | <sum>
expression = - <term> <sign> <term> | <term> <sign> <term> <sign> <term> <sign> <term>
expression = <polynomial>
polynomial = <whole> x ^ { 2 } <sign> <whole> x <sign> <whole>
polynomial = <raised> <sign> <raised> <sign> <name>
polynomial = <name> <name> ^ { 2 } + <name> <name> + <name>
polynomial = x ^ { <digit> } <sign> <whole> x ^ { <digit> }
relation * 14 = =
relation * 2 = < | > | \leq | \geq
relation = \neq | \rightarrow | \in | \approx | \equiv | \sim
bounds * 3 = _ { <letter> = <digit> } ^ { n } | _ { <letter> = <digit> } ^ { <letter> }
bounds * 2 = _ { <letter> = <digit> } ^ { \infty } | _ { <letter> = <digit> } ^ { <whole> }
bounds * 2 = _ { <letter> }
bounds = _ { <letter> = - \infty } ^ { \infty } | _ { <letter> \in <capital> }
bounds = _ { <letter> = <letter> + 1 } ^ { n - 1 }
bounds = _ { <letter> \geq <digit> } | _ { <letter> , <letter> } | _ { <letter> \neq <letter> }
added * 3 = \sum <bounds> <plain> | \sum <bounds> <sub>
added * 2 = \sum <bounds> <fraction> | \sum <bounds> <product> | \sum <bounds> <applied>
added = \sum <bounds> ( <sum> ) | \prod <bounds> <plain> | \sum <bounds> <added> | \sum <plain>
between * 3 = _ { <digit> } ^ { <digit> } | _ { a } ^ { b } | _ { 0 } ^ { <simple> }
between * 2 = _ { 0 } ^ { \infty } | _ { <name> } ^ { <name> } | _ { - \infty } ^ { \infty }
between * 2 = _ { <capital> }
between = _ { - <name> } ^ { <name> } | _ { 0 } ^ { 2 \pi } | _ { <name> }
between = _ { 0 } ^ { \frac { \pi } { 2 } }
bar * 3 = d x
bar = d <common> | d <letter> | d <greek>
integrated * 3 = \int <bar2> | \int <between> <bar2>
integrated = \int \int <bar2> d <letter> | \int _ { <name> } <bar2>
bar2 * 3 = <plain> <bar> | <applied> <bar> | <fraction> <bar>
bar2 * 2 = <product> <bar> | ( <sum> ) <bar> | \frac { <bar> } { <under> } | <root> <bar>
bar2 = <called> ( <common> ) <bar> | e ^ { <power> } <bar> | <expression> <bar>
toward * 3 = x \rightarrow <digit> | <letter> \rightarrow \infty | n \rightarrow \infty
toward = <letter> \rightarrow <name> | <letter> \rightarrow 0 | <greek> \rightarrow 0
limit * 2 = \lim _ { <toward> } <fraction> | \lim _ { <toward> } <applied>
limit * 2 = \lim _ { <toward> } <plain>
limit = \lim _ { <toward> } ( <sum> ) | \lim _ { <toward> } <root>
limit = \lim _ { <toward> } ( 1 + <fraction> ) ^ { <power> }
differential * 2 = \frac { d <common> } { d <common> } | \frac { d } { d <common> } <plain>
differential = \frac { d ^ { 2 } <common> } { d <common> ^ { 2 } }
differential = <called> ^ { \prime } ( <common> )
differential = \frac { \partial <common> } { \partial <common> }
differential = <called> ^ { \prime \prime } ( <common> )
list * 3 = <sub> , <sub> , \ldots , <sub> | <simple> , <simple> , <simple> | <simple> , <simple>
list * 2 = <name> _ { 1 } + <name> _ { 2 } + \cdots + <name> _ { n } | 1 , 2 , \ldots , <name>
list = <simple> + <simple> + \cdots + <simple> | <digit> , <digit> , <digit> , <digit>
set * 2 = <name> \in <capital> | \{ <list> \} | ( <list> ) | [ <simple> , <simple> ]
set = \forall <letter> \in <capital> | \exists <letter> \in <capital> | ( <simple> , <simple> ]
set = \forall <name> \exists <name> | \exists <letter> > 0 | <capital> = \{ <list> \}
set = \forall <letter> , <letter> \in <capital> | <letter> \in [ <simple> , <simple> ]
wide * 6 = <expression>
wide * 2 = <fraction> | <root> | <applied> | <added> | <integrated>
wide = <limit> | <differential> | <list> | <set>
line * 10 = <expression> = <expression> | <name> = <expression>
line * 6 = <expression> | <wide> | <term> <relation> <term> | <sum>
line * 4 = <wide> = <expression> | <expression> <relation> <expression> | <applied> = <expression>
line * 3 = <fraction> | <integrated> | <added> | <limit> | <sub> = <expression>
line * 3 = <raised> + <raised> = <raised>
line * 2 = <integrated> = <expression> | <added> = <expression> | <limit> = <expression> | <set>
line * 2 = <list>
line * 2 = <differential> = <expression> | <root> = <expression> | <name> = <number> | <product>
line * 2 = <term> <relation> <term> <relation> <term> | <polynomial> = 0 | <fraction> = <fraction>
line * 2 = <simple>
line = <name> <relation> <name> | <expression> = <expression> = <expression>
line = <whole> + <whole> = <whole>
line = <number> \times <number> = <number> | <whole> \div <whole> | <whole> - <whole> | <number>
line = <expression> , <name> = <simple> | <name> = <simple> , <name> = <simple> | <number> \%
line = <name>
line = <trig> ( <name> \pm <name> ) = <expression>
line = <name> = \frac { - b \pm \sqrt { b ^ { 2 } - 4 a c } } { 2 a }
"""


class Mathematics:
    """Draws labels, each a list of canonical tokens of the vocabulary `everyday`."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.grammar = Grammar(_RULES, rng)
        self.vocabulary = Vocabulary.load("everyday")

    def __call__(self, longest: int = LONGEST) -> list[str]:
        """A label of at most `longest` visual tokens."""
        while True:
            try:
                tokens = normalize(self.grammar.expanded("line"), self.vocabulary)
            except LatexError:  # two scripts of one base
                continue
            if sum(not n.ending for n in to_nodes(tokens, self.vocabulary)) <= longest:
                return tokens


def write_labels(path: Path, count: int, seed: int = 0, longest: int = LONGEST) -> None:
    """Lines of name, tab and tokens; `count` labels, of which short ones repeat."""
    draw = Mathematics(np.random.default_rng(seed))
    with atomic_file(path, "w") as file:
        for number in range(count):
            file.write(f"mathematics{number}\t{' '.join(draw(longest))}\n")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="MATHEMATICS.tsv")
    parser.add_argument("--count", type=positive, default=100_000, metavar="N")
    parser.add_argument("--longest", type=positive, default=LONGEST, metavar="TOKENS")
    parser.add_argument("--seed", type=int, default=0, metavar="N")


def run(arguments: argparse.Namespace) -> int:
    write_labels(arguments.output, arguments.count, arguments.seed, arguments.longest)
    return 0
