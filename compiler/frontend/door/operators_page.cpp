#include "compiler/frontend/door/operators_page.h"

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/operators/operator.h"

namespace systole::frontend {
namespace {

constexpr const char* introduction = R"(# Operators

Written by `sim schema --operators docs/operators.md` from the registry of operators. Each operator is a folder in
`compiler/operators`; a test checks that this page is up to date. `Keras` means layers of `.h5` and `.keras` files,
where those of Keras 1 (`Convolution2D`) and functions (`tf.math.truediv`) have the names of the layers that do the same in
Keras 2; `TFLite` and `ONNX` nodes of such files, `graph JSON` layers of graph files (docs/graph_files.md). Attributes are those of
the graph's text, which `sim compile MODEL --dump-after all` prints.

Recurrent layers are written out step by step: all steps have the same weights, and the products of the input are one for all steps.
Keras' `Bidirectional` is two of them, whose results are combined by its `merge_mode`; `TimeDistributed` applies its layer, or the
layers of its model, to each step of its input. A layer that leaves out the steps that `Masking` or an `Embedding` with `mask_zero`
masks is refused.

Operators on integers of TFLite files compute the bits of the reference kernels of TensorFlow 2.21, or of 2.19 with
`--tflite-runtime 2.19` (`tflite_runtime` in run files and in Python). A file does not say which it was made for. They differ in
FULLY_CONNECTED of int8, uint8 and int16: since 2.20, its sums are multiplied by the scales' quotient in float64 and rounded once
(`real_multiplier` of `dense` and `convolution`); before, a fixed-point multiplier rounds twice, and once with 16 bits for sums of
64 bits (`wide_sums`). All other operators here have the same bits in both: tests/judges compares them. 2.21 refuses DIV of uint8
where a divisor is stored as 0, whatever number that stands for; here it is computed as by 2.19. BATCH_MATMUL of int8 follows its
reference kernel and 2.21; the last bit of 2.19's kernel depends on the processor. SVDF and UNIDIRECTIONAL_SEQUENCE_LSTM are one
call, from a state of 0.

Work of ONNX files between DequantizeLinear and QuantizeLinear is done on integers, and its results are rounded once, halves to the
even number, as ONNX's are (`rounding` half_to_even). ONNX Runtime computes it in float32. Where that loses bits, results may differ by
1: a few of 100,000 results of 8 bits, and no sum, product or average with scales that are powers of two. Products and sums
of 16 bits have more bits than float32: the host computes them in float32, with the runtime's results.

The rounding float_half_even is the Edge TPU's: a sum of int32, bias included, becomes float32, is multiplied by a float32 number,
and the product is rounded once, halves to the even number. This is known by reverse engineering; nothing more is published, and the
rest is ours. A multiplier is the quotient of the scales, computed in float64 and rounded to float32. In a sum of two tensors, each
integer, less its zero point, is multiplied by the quotient of its scale and the result's; products and their sum are float32. A
product of two tensors is an int32, and scaled as a sum is. TPU v1 cannot round so: its host computes such nodes.

ONNX files have operator sets 7 to 25; of sets 1 to 6, operators that set 7 has not changed are read, so not Add with its
`broadcast`. Operators of the domain com.microsoft are ONNX Runtime's own. Those on integers compute what
DequantizeLinear, the operator and QuantizeLinear compute. ONNX Runtime's QLinearAdd rounds after it has added the zero point: if
that is odd, exact halves, which are frequent with scales that are powers of two, differ by 1. Functions of the file are expanded
where they are called. An If must have a condition that follows from constants, and is the graph that it chooses. Constants of 4
bits, and those with a scale for each block, are read by DequantizeLinear (or Cast), and stand for real numbers, which are quantized
as those of a float network.

What an operator costs follows from where it runs:

| where | cost |
|---|---|
| matrix unit | for each tile of weights, a cycle for each row of the input and pass of the array (docs/timing.md, 1 and 2) |
| as a part of, or fused with, another operator | nothing more |
| activation unit, as vector work | a cycle for each row that it reads or writes, whichever are more (docs/timing.md, 7) |
| host | the time of its operations and bytes on the host (`--host`), and the transfers to it and back |
| nowhere | nothing |

)";

std::string_view name_of_format(ir::Format format) {
    switch (format) {
        case ir::Format::Keras:
            return "Keras";
        case ir::Format::GraphJson:
            return "graph JSON";
        case ir::Format::Tflite:
            return "TFLite";
        case ir::Format::Onnx:
            return "ONNX";
    }
    throw std::logic_error("a format without a name");
}

void write_attributes(const ir::Operator& op, std::string& page) {
    if (op.attributes().empty()) return;
    page += "\n| attribute | default | meaning |\n|---|---|---|\n";
    for (const ir::AttributeDeclaration& attribute : op.attributes()) {
        page += fmt::format("| `{}` | {} | {} |\n", attribute.name,
                            attribute.is_required ? "required" : ir::to_text(attribute.absent),
                            attribute.meaning);
    }
}

std::string keys_of(const ir::LayerKind& kind) {
    std::string keys;
    for (const ir::LayerKey& key : kind.keys) {
        keys += fmt::format("{}`{}`: {}", keys.empty() ? "" : "; ", key.name, key.meaning);
    }
    return keys;
}

void write_formats(const ir::Operator& op, std::string& page) {
    const std::vector<ir::LayerKind> layers = op.layer_kinds();
    const std::vector<ir::FunctionName> functions = op.function_names();
    if (layers.empty() && functions.empty()) return;
    page += "\n| format | layer | keys |\n|---|---|---|\n";
    for (const ir::LayerKind& kind : layers) {
        page += fmt::format("| {} | `{}` | {} |\n", name_of_format(kind.format), kind.name, keys_of(kind));
    }
    for (const ir::FunctionName& function : functions) {
        page += fmt::format("| {} | function `{}` of another layer |  |\n", name_of_format(function.format),
                            function.name);
    }
}

constexpr const char* about_places = R"(## Where operators run

Each family of machines has a table of the operators that its chip computes, and `sim schema` writes them here. It is of graphs as the
passes leave them. For machines of integers (TPU v1, Edge TPU) these make some operators others: a function of one tensor becomes a `lookup`,
a batch normalization a part of the weights before it. Such operators have "becomes another" here, and their sections say which. Their
sections' "Runs" speaks of TPU v1, and of tensor cores where it names them.

- "chip": the chip computes all nodes whose tensors it takes: images or vectors of integers, of 8 bits on an Edge TPU.
- "chip, some nodes": those whose attributes, constants and types have a rule; `sim compile --explain` says what becomes of the others.
- "host": the host of the machine computes them. On an Edge TPU, it also computes all that comes behind the first such node.
- "core": a tensor core of a Cloud TPU computes them in floats, or refuses a node in one line, which names it.
- "refused": so are networks with such a node on a Cloud TPU, where the host computes nothing.

)";

/// What the table says of an operator on a family. No family has in its own table what passes for machines of
/// integers replace or remove, or what passes for tensor cores alone make.
std::string_view cell(const operators::Operator& op, std::string_view place) {
    if (place != "host") return place;
    const std::string_view where = op.placement().where;
    if (where.starts_with("as ") || where.starts_with("nowhere")) return "becomes another";
    return where.find("tensor core") < where.find("host") ? "–" : place;
}

/// Whether graphs that the passes have prepared may have such a node.
bool is_in_prepared_graphs(const operators::Operator& op) {
    return op.name() != "input" && op.name() != "constant";
}

void write_places(const std::vector<PlacesColumn>& columns, std::string& page) {
    page += about_places;
    page += "| operator |";
    for (const PlacesColumn& column : columns) page += fmt::format(" {} |", column.name);
    page += "\n|---|";
    for (std::size_t i = 0; i < columns.size(); ++i) page += "---|";
    page += "\n";
    for (const ir::Operator* const each : operators::registry().all()) {
        const auto& op = static_cast<const operators::Operator&>(*each);
        if (!is_in_prepared_graphs(op)) continue;
        page += fmt::format("| `{}` |", op.name());
        for (const PlacesColumn& column : columns)
            page += fmt::format(" {} |", cell(op, column.place_of(op)));
        page += "\n";
    }
    page += "\n";
}

}  // namespace

std::string operators_page(const std::vector<PlacesColumn>& columns) {
    std::string page = introduction;
    write_places(columns, page);
    for (const ir::Operator* const op : operators::registry().all()) {
        page += fmt::format("## {}\n\n{}\n", op->name(), op->summary());
        const operators::Placement placement = static_cast<const operators::Operator&>(*op).placement();
        page += fmt::format("\nRuns: {}. Number formats: {}.\n", placement.where, placement.formats);
        write_attributes(*op, page);
        write_formats(*op, page);
        page += "\n";
    }
    page.pop_back();
    return page;
}

}  // namespace systole::frontend
