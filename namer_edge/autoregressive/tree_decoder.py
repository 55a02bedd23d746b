"""TreeDecoder: a GRU that outputs a tree, node by node (Zhang et al.: ICML 2020)."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from namer_edge_runtime.formula.vocabulary import Vocabulary

from .coverage_attention import CoverageAttention, Keys, masked_mean
from .model import IGNORE, AutoregressiveModel, DecoderArchitecture, DecoderOutput, Features, State
from .tree_alphabet import PLACES, TreeAlphabet

KERNEL = 11
"""Coverage kernel in cells."""
FAR = -1e4
"""Logit of impossible tokens."""
SIDE = 0.1
"""Weight of the two auxiliary losses on attention (Zhang et al., and their code)."""


@dataclass(frozen=True)
class Context:
    """Inputs of decoding N pictures that do not depend on nodes."""

    parent: Keys
    child: Keys
    initial: Tensor
    """[N, D]."""


class TreeDecoder(AutoregressiveModel):
    """Predicts for each node its parent (attention to the picture, then to the memory of all
    nodes), its class (an attention of its own) and its relation to the parent (from both contexts).

    A node is three tokens, so that the common beam search works for trees. Losses: parent, child
    and relation; at a tenth each, the parent's class from the context of the parent's attention,
    and the divergence of that attention from the one at which the parent was predicted.
    """

    longest = 600
    alphabet: TreeAlphabet

    def __init__(self, architecture: DecoderArchitecture, vocabulary: Vocabulary) -> None:
        super().__init__(architecture, vocabulary)
        self.alphabet = TreeAlphabet(vocabulary)
        width, attention = architecture.decoder_width, architecture.attention_width
        channels, classes = self.encoder.width16, self.alphabet.classes
        self.initial = nn.Linear(channels, width)
        self.embedding = nn.Embedding(classes, width)
        self.to_parent, self.to_child = nn.GRUCell(width, width), nn.GRUCell(width, width)
        self.seen_parent, self.seen_child = (nn.GRUCell(channels, width) for _ in range(2))
        self.look_parent, self.look_child = (
            CoverageAttention(channels, width, attention, KERNEL) for _ in range(2)
        )
        self.remember = nn.Linear(width, attention)
        self.ask = nn.Linear(width, attention, bias=False)
        self.energy = nn.Linear(attention, 1, bias=False)
        self.from_token = nn.Linear(width, width)
        self.from_state = nn.Linear(width, width)
        self.from_context = nn.Linear(channels, width)
        self.dropout = nn.Dropout(architecture.dropout)
        self.output = nn.Linear(width // 2, classes)
        self.parent_output = nn.Linear(width // 2, classes)
        self.relate = nn.Sequential(
            nn.Linear(2 * channels, width),
            nn.Dropout(architecture.dropout),
            nn.Linear(width, len(self.alphabet.relations)),
        )

    def prepare(self, features: Features) -> Context:
        parent, child = (
            attention.keys(features.f16, features.mask)
            for attention in (self.look_parent, self.look_child)
        )
        mean = masked_mean(features.f16, features.mask)
        return Context(parent, child, torch.tanh(self.initial(mean)))

    def initial_state(self, context: Context) -> State:
        hidden, nothing = context.initial, context.parent.nothing()
        rows = hidden.shape[0]
        channels = hidden.new_zeros(rows, context.parent.values.shape[1])
        return {
            "hidden": hidden,
            "memory": hidden[:, None],
            "classes": torch.full((rows, 1), self.alphabet.sos, device=hidden.device),
            "parent_past": nothing,
            "child_past": nothing,
            "parent_context": channels,
            "child_context": channels,
            "looked": nothing,
            "written": torch.zeros(rows, dtype=torch.int64, device=hidden.device),
        }

    def step(self, context: Context, state: State, tokens: Tensor) -> DecoderOutput:
        state = dict(state)
        logits, weights = [], []
        steps = (self._parent, self._child, self._relation)
        for token in tokens.unbind(1):
            written = int(state["written"][0])  # the same in all rows
            logits.append(steps[written % 3](context, state, token))
            weights.append(state["looked"])
            state["written"] = state["written"] + 1
        return DecoderOutput(torch.stack(logits, 1), torch.stack(weights, 1), state)

    def _parent(self, context: Context, state: State, token: Tensor) -> Tensor:
        """After a whole node (`token` is its relation, which is not used): the place of the next
        node's parent in the memory."""
        last = self.embedding(state["classes"][:, -1])
        hidden = self.to_parent(last, state["hidden"])
        output = self.look_parent(context.parent, hidden, state["parent_past"])
        state["parent_past"] = state["parent_past"] + output.weights
        state["parent_context"], state["looked"] = output.context, output.weights
        hidden = state["hidden"] = self.seen_parent(output.context, hidden)
        inside = torch.tanh(self.remember(state["memory"]) + self.ask(hidden)[:, None])
        return self._among(self.energy(inside).squeeze(2)[:, :PLACES], self.alphabet.pointers)

    def _child(self, context: Context, state: State, token: Tensor) -> Tensor:
        """After the parent's place: the child's class."""
        classes = state["classes"]
        # A finished formula repeats <eos>, which is no place: any will do.
        place = (token - self.alphabet.pointers) % classes.shape[1]
        parent = self.embedding(classes.gather(1, place[:, None]).squeeze(1))
        hidden = self.to_child(parent, state["hidden"])
        output = self.look_child(context.child, hidden, state["child_past"])
        state["child_past"] = state["child_past"] + output.weights
        state["child_context"], state["looked"] = output.context, output.weights
        hidden = state["hidden"] = self.seen_child(output.context, hidden)
        whole = self.from_context(output.context) + self.from_state(hidden)
        logits = self.output(self.dropout(_maxout(whole + self.from_token(parent))))
        return self._among(logits, 0)

    def _relation(self, context: Context, state: State, token: Tensor) -> Tensor:
        """After the child's class: its relation to the parent; adds the node to the memory."""
        state["memory"] = torch.cat([state["memory"], state["hidden"][:, None]], 1)
        child = (token % self.alphabet.classes)[:, None]
        state["classes"] = torch.cat([state["classes"], child], 1)
        both = torch.cat([state["child_context"], state["parent_context"]], 1)
        return self._among(self.relate(both), self.alphabet.classes)

    def _among(self, logits: Tensor, start: int) -> Tensor:
        """Logits [N, n] of the numbers from `start` on, among all numbers [N, A]."""
        behind = self.alphabet.size - start - logits.shape[1]
        return F.pad(logits.float(), (start, behind), value=FAR)

    def losses(
        self, context: Context, labels: Sequence[Sequence[int]], smoothing: float = 0.0
    ) -> dict[str, Tensor]:
        """`loss` is the sum of `parent`, `child`, `relation` and two weighted auxiliary losses."""
        inputs, targets = (x.to(self.device) for x in self.sequences(labels))
        outputs = self.teacher_forcing(context, inputs)
        alphabet, logits = self.alphabet, outputs.logits
        places = targets[:, 0::3] - alphabet.pointers
        parts = {
            "parent": _cross_entropy(logits[:, 0::3, alphabet.pointers :], places, 0.0),
            "child": _cross_entropy(
                logits[:, 1::3, : alphabet.classes], targets[:, 1::3], smoothing
            ),
            "relation": _cross_entropy(
                logits[:, 2::3, alphabet.classes : alphabet.pointers],
                targets[:, 2::3] - alphabet.classes,
                smoothing,
            ),
        }
        by_parent, by_child = outputs.attention[:, 0::3], outputs.attention[:, 1::3]
        values = context.parent.values
        contexts = torch.einsum("nchw,nthw->ntc", values, by_parent.to(values.dtype))
        symbols = self.parent_output(self.dropout(_maxout(self.from_context(contexts))))
        real = places >= 0
        # Classes by place, the root first, and the class of each parent.
        kinds = F.pad(inputs[:, 2::3].clamp_max(alphabet.classes - 1), (1, 0), value=alphabet.sos)
        parents = torch.where(real, kinds.gather(1, places.clamp_min(0)), IGNORE)
        auxiliary = {
            "symbol": _cross_entropy(symbols, parents, 0.0),
            "attention": _divergence(by_child, by_parent, places),
        }
        loss = torch.stack(list(parts.values())).sum()
        return {
            "loss": loss + SIDE * torch.stack(list(auxiliary.values())).sum(),
            **parts,
            **auxiliary,
        }


def _maxout(x: Tensor) -> Tensor:
    """The larger of each pair of channels: […, D] → […, D / 2]."""
    return x.unflatten(-1, (-1, 2)).amax(-1)


def _cross_entropy(logits: Tensor, targets: Tensor, smoothing: float) -> Tensor:
    """Mean over targets [N, T] that are not negative; logits [N, T, n]."""
    targets = torch.where(targets < 0, IGNORE, targets)
    return F.cross_entropy(
        logits.float().flatten(0, 1),
        targets.flatten(),
        ignore_index=IGNORE,
        label_smoothing=smoothing,
    )


def _divergence(by_child: Tensor, by_parent: Tensor, places: Tensor) -> Tensor:
    """Σ α log(α / β) of a node's attention α as a child and β as a parent.

    Attention [N, T, h, w]; places [N, T] of the parents, the root at 0, nothing below 0. The mean
    over all nodes that are not the root's children.
    """
    real = places > 0
    where = (places - 1).clamp_min(0)[..., None, None].expand(-1, -1, *by_child.shape[2:])
    small = 1e-10
    seen, sought = by_child.gather(1, where) + small, by_parent + small
    apart = (seen * (seen.log() - sought.log())).sum((2, 3))
    return (apart * real).sum() / real.sum().clamp_min(1)
