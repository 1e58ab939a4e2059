#!/usr/bin/env python3
"""Makes networks of sequences and attention with PyTorch's exporters, and asks PyTorch for the outputs.

Taggers of LSTMs and GRUs, transformers, decoders with a cache of keys and values, and small vision
transformers, with random weights: written here as people write them with torch.nn, and, by the
package transformers, as people have them. Each is exported by both exporters ("script" and
"dynamo"). ONNX Runtime must agree with PyTorch on a file, or the file is not judged.
"""

import argparse
import contextlib
import gc
import io
import logging
import os
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
os.environ.setdefault("TRANSFORMERS_OFFLINE", "1")

import numpy as np
import onnx
import torch
import transformers
from torch import nn
from torch.nn import functional

import onnx_runtime
from cases import Arrays, Case, float_rule
from simulator import compare_reals

# The "open" ones leave the batch and the number of steps open.
EXPORTERS = ("script", "dynamo", "script_open", "dynamo_open")
SIZES = ("small", "real")
SCRIPT_OPSET, DYNAMO_OPSET = 17, 18

Tensors = dict[str, torch.Tensor]


@dataclass
class Network:
    """A module, and its inputs and outputs by name."""

    module: nn.Module
    inputs: Tensors
    outputs: list[str]
    # Of each input, the axes that are left open, and what they are.
    open_axes: dict[str, dict[int, str]] = field(default_factory=dict)


def steps_of(*inputs: str) -> dict[str, dict[int, str]]:
    return {name: {0: "batch", 1: "steps"} for name in inputs}


def ids(shape: tuple[int, ...], count: int) -> torch.Tensor:
    return torch.randint(0, count, shape)


class Tagger(nn.Module):
    """A tag for each word."""

    def __init__(self, kind: type, words: int, width: int, state: int, layers: int, tags: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.layers = kind(width, state, layers, batch_first=True, bidirectional=True)
        self.head = nn.Linear(2 * state, tags)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        return self.head(self.layers(self.embedding(words))[0])


class StatefulTagger(nn.Module):
    """An LSTM that is given a state and gives the next one, as for streams."""

    def __init__(self, width: int, state: int, layers: int) -> None:
        super().__init__()
        self.layers = nn.LSTM(width, state, layers, batch_first=True)
        self.head = nn.Linear(state, 5)

    def forward(
        self, x: torch.Tensor, hidden: torch.Tensor, cell: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        y, (hidden, cell) = self.layers(x, (hidden, cell))
        return self.head(y), hidden, cell


class Encoder(nn.Module):
    """nn.TransformerEncoder behind an embedding."""

    def __init__(self, words: int, width: int, heads: int, layers: int, **options: object) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.register_buffer("positions", torch.randn(1, 512, width))
        layer = nn.TransformerEncoderLayer(width, heads, 4 * width, batch_first=True, **options)
        self.layers = nn.TransformerEncoder(layer, layers, nn.LayerNorm(width), enable_nested_tensor=False)
        self.head = nn.Linear(width, 7)
        self.width = width

    def embedded(self, words: torch.Tensor) -> torch.Tensor:
        return self.embedding(words) * self.width**0.5 + self.positions[:, : words.shape[1]]

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        return self.head(self.layers(self.embedded(words)))


class CausalEncoder(Encoder):
    def forward(self, words: torch.Tensor) -> torch.Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(words.shape[1])
        return self.head(self.layers(self.embedded(words), mask=mask, is_causal=True))


class PaddedEncoder(Encoder):
    """The words that are 0 are no words."""

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        return self.head(self.layers(self.embedded(words), src_key_padding_mask=words == 0))


class Rotary(nn.Module):
    """Rotary positions from `first` on."""

    def __init__(self, width: int) -> None:
        super().__init__()
        powers = torch.arange(0, width, 2).float() / width
        self.register_buffer("rates", 10000.0**-powers)

    def forward(self, x: torch.Tensor, first: int) -> torch.Tensor:
        places = torch.arange(first, first + x.shape[2], dtype=torch.float32)
        angles = torch.outer(places, self.rates)
        angles = torch.cat((angles, angles), dim=-1)
        low, high = x.chunk(2, dim=-1)
        return x * angles.cos() + torch.cat((-high, low), dim=-1) * angles.sin()


class RmsNorm(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.rand(width) + 0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)


class Decoder(nn.Module):
    """A block as in LLaMA, which is given the keys and values of the steps before and gives all."""

    def __init__(self, width: int, heads: int, groups: int) -> None:
        super().__init__()
        self.heads, self.groups, self.head_width = heads, groups, width // heads
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, groups * self.head_width, bias=False)
        self.value = nn.Linear(width, groups * self.head_width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.gate, self.up = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, 3 * width, bias=False)
        self.down = nn.Linear(3 * width, width, bias=False)
        self.norms = nn.ModuleList([RmsNorm(width), RmsNorm(width)])
        self.rotary = Rotary(self.head_width)

    def split(self, x: torch.Tensor, heads: int) -> torch.Tensor:
        return x.view(x.shape[0], x.shape[1], heads, self.head_width).transpose(1, 2)

    def attend(self, query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        return functional.scaled_dot_product_attention(query, keys, values)

    def forward(
        self, x: torch.Tensor, keys: torch.Tensor, values: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        y = self.norms[0](x)
        past = keys.shape[2]
        query = self.rotary(self.split(self.query(y), self.heads), past)
        keys = torch.cat((keys, self.rotary(self.split(self.key(y), self.groups), past)), dim=2)
        values = torch.cat((values, self.split(self.value(y), self.groups)), dim=2)
        many = self.heads // self.groups
        all_keys, all_values = (t.repeat_interleave(many, dim=1) for t in (keys, values))
        y = self.attend(query, all_keys, all_values)
        x = x + self.out(y.transpose(1, 2).reshape(x.shape))
        y = self.norms[1](x)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y)), keys, values


class EinsumDecoder(Decoder):
    """The same with einsum and softmax, as in code that was there before the function."""

    def attend(self, query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        scores = torch.einsum("bhqd,bhkd->bhqk", query, keys) / self.head_width**0.5
        return torch.einsum("bhqk,bhkd->bhqd", scores.softmax(dim=-1), values)


class VisionTransformer(nn.Module):
    def __init__(self, side: int, patch: int, width: int, heads: int, layers: int) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.token = nn.Parameter(torch.randn(1, 1, width))
        self.positions = nn.Parameter(torch.randn(1, (side // patch) ** 2 + 1, width))
        layer = nn.TransformerEncoderLayer(
            width, heads, 4 * width, batch_first=True, norm_first=True, activation="gelu"
        )
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 10)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        x = self.patches(image).flatten(2).transpose(1, 2)
        x = torch.cat((self.token.expand(x.shape[0], -1, -1), x), dim=1) + self.positions
        return self.head(self.norm(self.layers(x))[:, 0])


def lstm_tagger(size: str) -> Network:
    return tagger(nn.LSTM, size)


def gru_tagger(size: str) -> Network:
    return tagger(nn.GRU, size)


def tagger(kind: type, size: str) -> Network:
    words, width, state, layers, steps = (50, 8, 8, 1, 6) if size == "small" else (10000, 128, 256, 2, 64)
    return Network(Tagger(kind, words, width, state, layers, 9), {"words": ids((1, steps), words)}, ["tags"], steps_of("words"))


def stateful_lstm(size: str) -> Network:
    width, state, layers, steps = (6, 8, 2, 3) if size == "small" else (128, 256, 2, 16)
    return stream(width, state, layers, steps)


def one_step_lstm(size: str) -> Network:
    width, state = (6, 8) if size == "small" else (128, 256)
    return stream(width, state, 1, 1)


def stream(width: int, state: int, layers: int, steps: int) -> Network:
    inputs = {
        "x": torch.randn(1, steps, width),
        "hidden": torch.randn(layers, 1, state) * 0.5,
        "cell": torch.randn(layers, 1, state) * 0.5,
    }
    outputs = ["y", "next_hidden", "next_cell"]
    return Network(StatefulTagger(width, state, layers), inputs, outputs, {"x": {1: "steps"}})


def encoder_of(kind: type, size: str, **options: object) -> Network:
    words, width, heads, layers, steps = (40, 16, 4, 2, 6) if size == "small" else (10000, 256, 8, 4, 64)
    given = ids((1, steps), words)
    given[0, -2:] = 0
    return Network(kind(words, width, heads, layers, **options), {"words": given}, ["y"], steps_of("words"))


def encoder(size: str) -> Network:
    return encoder_of(Encoder, size)


def encoder_gelu_first(size: str) -> Network:
    return encoder_of(Encoder, size, activation="gelu", norm_first=True)


def encoder_causal(size: str) -> Network:
    return encoder_of(CausalEncoder, size)


def encoder_padded(size: str) -> Network:
    return encoder_of(PaddedEncoder, size)


def decoder_of(kind: type, size: str) -> Network:
    width, heads, groups, past = (16, 4, 2, 5) if size == "small" else (512, 8, 4, 63)
    inputs = {
        "x": torch.randn(1, 1, width),
        "keys": torch.randn(1, groups, past, width // heads),
        "values": torch.randn(1, groups, past, width // heads),
    }
    outputs = ["y", "all_keys", "all_values"]
    axes = {name: {2: "past"} for name in ("keys", "values")}
    return Network(kind(width, heads, groups), inputs, outputs, axes)


def decoder(size: str) -> Network:
    return decoder_of(Decoder, size)


def decoder_einsum(size: str) -> Network:
    return decoder_of(EinsumDecoder, size)


def vit(size: str) -> Network:
    side, patch, width, heads, layers = (16, 4, 16, 2, 2) if size == "small" else (224, 16, 192, 3, 12)
    module = VisionTransformer(side, patch, width, heads, layers)
    return Network(module, {"image": torch.randn(1, 3, side, side)}, ["y"], {"image": {0: "batch"}})


class Results(nn.Module):
    """Some results of a model of transformers, by position."""

    def __init__(self, model: nn.Module, names: list[str], takes: list[str]) -> None:
        super().__init__()
        self.model, self.names, self.takes = model, names, takes

    def forward(self, *values: torch.Tensor) -> tuple[torch.Tensor, ...]:
        results = self.model(**dict(zip(self.takes, values, strict=True)), return_dict=True)
        return tuple(results[name] for name in self.names)


def of_transformers(model: nn.Module, inputs: Tensors, names: list[str]) -> Network:
    axes = {name: {0: "batch"} if each.dim() == 4 else {0: "batch", 1: "steps"} for name, each in inputs.items()}
    return Network(Results(model, names, list(inputs)), inputs, names, axes)


def bert_of(size: str, layers: int, attention: str) -> Network:
    sizes: dict[str, int] = {}
    if size == "small":
        sizes = {"vocab_size": 60, "hidden_size": 16, "num_attention_heads": 4, "intermediate_size": 32}
    config = transformers.BertConfig(num_hidden_layers=layers, attn_implementation=attention, **sizes)
    steps = 8 if size == "small" else 128
    mask = torch.ones(1, steps, dtype=torch.int64)
    mask[0, -3:] = 0
    inputs = {
        "input_ids": ids((1, steps), config.vocab_size),
        "attention_mask": mask,
        "token_type_ids": ids((1, steps), 2),
    }
    model = transformers.BertModel(config)
    return of_transformers(model, inputs, ["last_hidden_state", "pooler_output"])


def bert(size: str) -> Network:
    return bert_of(size, 2 if size == "small" else 12, "sdpa")


def bert_eager(size: str) -> Network:
    return bert_of(size, 2, "eager")


def distilbert(size: str) -> Network:
    sizes: dict[str, int] = {}
    if size == "small":
        sizes = {"vocab_size": 60, "dim": 16, "n_heads": 4, "hidden_dim": 32, "n_layers": 2}
    config = transformers.DistilBertConfig(attn_implementation="eager", **sizes)
    steps = 8 if size == "small" else 64
    mask = torch.ones(1, steps, dtype=torch.int64)
    mask[0, -3:] = 0
    inputs = {"input_ids": ids((1, steps), config.vocab_size), "attention_mask": mask}
    return of_transformers(transformers.DistilBertModel(config), inputs, ["last_hidden_state"])


def gpt2(size: str) -> Network:
    sizes = {"n_layer": 2}
    if size == "small":
        sizes |= {"vocab_size": 60, "n_embd": 16, "n_head": 4, "n_positions": 32}
    config = transformers.GPT2Config(attn_implementation="eager", use_cache=False, **sizes)
    inputs = {"input_ids": ids((1, 8 if size == "small" else 64), config.vocab_size)}
    return of_transformers(transformers.GPT2Model(config), inputs, ["last_hidden_state"])


def llama(size: str) -> Network:
    sizes = {"num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2}
    if size == "small":
        sizes |= {"vocab_size": 60, "hidden_size": 16, "intermediate_size": 32}
    else:
        sizes |= {"vocab_size": 4000, "hidden_size": 256, "intermediate_size": 688}
    config = transformers.LlamaConfig(attn_implementation="sdpa", use_cache=False, **sizes)
    inputs = {"input_ids": ids((1, 8 if size == "small" else 64), config.vocab_size)}
    return of_transformers(transformers.LlamaModel(config), inputs, ["last_hidden_state"])


def vit_of_transformers(size: str) -> Network:
    sizes: dict[str, int] = {"num_hidden_layers": 2}
    if size == "small":
        sizes |= {"hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 32}
        sizes |= {"image_size": 16, "patch_size": 4}
    config = transformers.ViTConfig(attn_implementation="sdpa", **sizes)
    side = config.image_size
    inputs = {"pixel_values": torch.randn(1, 3, side, side)}
    return of_transformers(transformers.ViTModel(config), inputs, ["last_hidden_state", "pooler_output"])


NETWORKS: dict[str, Callable[[str], Network]] = {
    each.__name__: each
    for each in (
        lstm_tagger,
        gru_tagger,
        stateful_lstm,
        one_step_lstm,
        encoder,
        encoder_gelu_first,
        encoder_causal,
        encoder_padded,
        decoder,
        decoder_einsum,
        vit,
        bert,
        bert_eager,
        distilbert,
        gpt2,
        llama,
        vit_of_transformers,
    )
}


class NotExported(Exception):
    """The exporter refuses a network, or writes one that ONNX Runtime computes otherwise."""


def main() -> None:
    arguments = parse_arguments()
    # Layers of transformers would be one operator, which the exporter "script" does not know.
    torch.backends.mha.set_fastpath_enabled(False)
    for name in arguments.network or NETWORKS:
        for size in arguments.size or ["small"]:
            for exporter in arguments.exporter or EXPORTERS:
                begin = time.monotonic()
                try:
                    case = make_case(name, size, exporter, arguments.seed)
                except NotExported as error:
                    print(f"{name}_{size}_{exporter}: not judged: {error}", file=sys.stderr, flush=True)
                    continue
                print(f"{case.write(arguments.out)}: {time.monotonic() - begin:.0f} s", flush=True)
                gc.collect()


def make_case(name: str, size: str, exporter: str, seed: int) -> Case:
    torch.manual_seed(seed)
    transformers.set_seed(seed)
    network = NETWORKS[name](size)
    spread_norms(network.module)
    network.module.eval()
    with torch.no_grad():
        results = network.module(*network.inputs.values())
    results = results if isinstance(results, tuple) else (results,)
    outputs = {key: each.numpy() for key, each in zip(network.outputs, results, strict=True)}
    inputs = {key: each.numpy() for key, each in network.inputs.items()}
    content = exported(network, exporter)
    rules = {key: float_rule(values, relative=1e-3) for key, values in outputs.items()}
    check(content, inputs, outputs, rules)
    return Case(
        f"{name}_{size}_{exporter}", "onnx", f"{name} {exporter}", "onnx", content, inputs, outputs, rules
    )


def spread_norms(module: nn.Module) -> None:
    """Without this, all scales are 1 and all offsets 0, and mistakes with them would not show."""
    with torch.no_grad():
        for each in module.modules():
            if isinstance(each, nn.LayerNorm):
                each.weight.uniform_(0.5, 1.5)
                each.bias.normal_(0, 0.2)


def exported(network: Network, exporter: str) -> bytes:
    buffer = io.BytesIO()
    values = tuple(network.inputs.values())
    options: dict[str, object] = {"input_names": list(network.inputs), "output_names": network.outputs}
    open_axes = network.open_axes if exporter.endswith("_open") else {}
    try:
        with torch.no_grad(), quiet():
            if exporter.startswith("script"):
                options |= {"dynamo": False, "opset_version": SCRIPT_OPSET, "dynamic_axes": open_axes}
                torch.onnx.export(network.module, values, buffer, **options)
                return buffer.getvalue()
            if open_axes:
                options["dynamic_shapes"] = dynamic_shapes(network)
            options |= {"dynamo": True, "opset_version": DYNAMO_OPSET, "verbose": False}
            return torch.onnx.export(network.module, values, **options).model_proto.SerializeToString()
    except Exception as error:  # whatever an exporter raises, it has not exported
        message = (str(error).strip() or "(no message)").splitlines()[0]
        raise NotExported(f"{type(error).__name__}: {message}") from error


def dynamic_shapes(network: Network) -> object:
    """In the order of the inputs; a module that takes any number of values has them in one tuple."""
    automatic = torch.export.Dim.AUTO
    shapes = tuple(
        {axis: automatic for axis in network.open_axes.get(name, {})} for name in network.inputs
    )
    return (shapes,) if isinstance(network.module, Results) else shapes


def check(content: bytes, inputs: Arrays, outputs: Arrays, rules: dict) -> None:
    names = {value.name for value in onnx.load_from_string(content).graph.input}
    if missing := inputs.keys() - names:
        raise NotExported(f"the exporter has left out the inputs {sorted(missing)}")
    for name, given in onnx_runtime.run(content, inputs).items():
        if problem := compare_reals(given, outputs[name], rules[name]):
            raise NotExported(f"ONNX Runtime computes {name} otherwise: {problem}")


@contextlib.contextmanager
def quiet():
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        logging.disable(logging.WARNING)
        yield
        logging.disable(logging.NOTSET)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--out", type=Path, default=Path("build/judges/sequences"), help="folder for the cases")
    add("--network", action="append", choices=list(NETWORKS), help="only this network")
    add("--size", action="append", choices=SIZES, help="small ones (without this option) or real ones")
    add("--exporter", action="append", choices=EXPORTERS, help="only this exporter")
    add("--seed", type=int, default=1, help="settles everything random (1)")
    return parser.parse_args()


if __name__ == "__main__":
    main()
