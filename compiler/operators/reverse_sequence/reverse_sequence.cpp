// The first elements of each sequence in the opposite order, as many as its length; the others stay.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <numeric>
#include <utility>

#include "compiler/ir/model_error.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/indices.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/strided.h"
#include "compiler/operators/words_builder.h"

namespace systole::operators {
namespace {

ir::Results append_reverse_sequence(ir::LayerReader& layer, std::int64_t batch_axis, std::int64_t time_axis) {
    const std::size_t rank = shape_of(layer, 0).rank();
    return append_same(layer, "reverse_sequence",
                       {{"batch_axis", static_cast<std::int64_t>(axis_in(layer, batch_axis, rank))},
                        {"time_axis", static_cast<std::int64_t>(axis_in(layer, time_axis, rank))}},
                       {input_of(layer, 0), input_of(layer, 1)});
}

ir::AttributeDeclaration sequence_axis(const char* name, const char* meaning) {
    return {.name = name,
            .meaning = meaning,
            .absent = std::int64_t{0},
            .is_required = true,
            .minimum = 0,
            .maximum = ir::Shape::most_extents - 1};
}

/// The axes of a node's sequences.
struct SequenceAxes {
    std::size_t batch = 0;
    std::size_t time = 0;

    explicit SequenceAxes(const ir::Node& node)
        : batch(static_cast<std::size_t>(node.integer("batch_axis"))),
          time(static_cast<std::size_t>(node.integer("time_axis"))) {}
};

void check_lengths(const ir::Shape& shape, const SequenceAxes& axes, std::span<const std::int32_t> lengths) {
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        if (lengths[i] >= 0 && std::cmp_less_equal(lengths[i], shape[axes.time])) continue;
        throw ModelError(fmt::format("the length of sequence {} is {}; it must be from 0 to {}", i,
                                     lengths[i], shape[axes.time]));
    }
}

/// The places that elements of a sequence come from.
std::vector<std::int64_t> reversed_places(std::uint32_t extent, std::int32_t length) {
    std::vector<std::int64_t> places(extent);
    std::iota(places.begin(), places.end(), 0);
    std::reverse(places.begin(), places.begin() + length);
    return places;
}

class ReverseSequence final : public Operator {
public:
    std::string_view name() const override { return "reverse_sequence"; }
    std::string_view summary() const override {
        return "The first elements of each sequence in the opposite order, as many as its length; the others "
               "stay. Inputs: the sequences; their lengths, integers.";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{
            sequence_axis("batch_axis", "the axis along which the sequences lie, each with its length"),
            sequence_axis("time_axis", "the axis along which the elements of a sequence lie")};
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{.format = ir::Format::Onnx,
                 .name = "ReverseSequence",
                 .keys = {{"batch_axis", "`batch_axis`"}, {"time_axis", "`time_axis`"}},
                 .build =
                     [](ir::LayerReader& layer) {
                         return append_reverse_sequence(layer, integer_of(layer, "batch_axis", 1),
                                                        integer_of(layer, "time_axis", 0));
                     }},
                {.format = ir::Format::Tflite,
                 .name = "REVERSE_SEQUENCE",
                 .keys = {{"batch_dim", "`batch_axis`"}, {"seq_dim", "`time_axis`"}},
                 .build = [](ir::LayerReader& layer) {
                     return append_reverse_sequence(layer, integer_of(layer, "batch_dim", 0),
                                                    integer_of(layer, "seq_dim", 0));
                 }}};
    }
    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        const SequenceAxes axes(node.node());
        if (axes.batch == 0 && has_batch[0] && has_batch[1]) return node.node().attributes;
        return kept_batch(node, has_batch, axes.batch != 0 && axes.time != 0);
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        if (node.node().inputs.size() != 2) throw ModelError("it must have exactly 2 inputs");
        const ir::Shape& shape = node.input(0).shape;
        const ir::Shape& lengths = node.input(1).shape;
        const SequenceAxes axes(node.node());
        if (axes.batch >= shape.rank() || axes.time >= shape.rank() || axes.batch == axes.time) {
            throw ModelError(
                fmt::format("its sequences lie along axis {} of {}, and their elements along axis "
                            "{}; they must be two of its axes",
                            axes.batch, to_text(shape), axes.time));
        }
        if (lengths.rank() != 1 || lengths[0] != shape[axes.batch]) {
            throw ModelError(fmt::format("its lengths are {}; they must be {}, the extent of axis {} of {}",
                                         to_text(lengths), shape[axes.batch], axes.batch, to_text(shape)));
        }
        // Lengths that are known are checked before the network runs.
        if (const auto known = known_indices(node.input(1))) check_lengths(shape, axes, *known);
        return {shape};
    }
    Placement placement() const override { return {.where = "host", .formats = "all"}; }
    void check_types(const ir::NodeView& node) const override {
        if (!is_stored_alike(node.input(0), node.output())) {
            fail_as_stored_unlike("its input and its result", node.input(0), node.output());
        }
        if (is_integer(node.input(1).type)) return;
        throw ModelError(
            fmt::format("its lengths are {}; they must be integers", name_of(node.input(1).type)));
    }
    bool takes_words() const override { return true; }
    /// Each sequence by itself, unless all have one length.
    bool has_words() const override { return true; }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override {
        const auto lengths = known_indices(builder.view(node).input(1));
        if (!lengths) {
            WordsBuilder::fail(node, "another layer computes its lengths; a tensor core needs constant ones");
        }
        const SequenceAxes axes(node);
        const ir::ValueId input = builder.input_of(node, 0);
        const ir::Shape shape = builder.shape_of(input);
        const auto reversed = [&](ir::ValueId sequences, std::int32_t length) {
            return builder.take(sequences, axes.time, reversed_places(shape[axes.time], length));
        };
        if (std::ranges::count(*lengths, lengths->front()) == std::ssize(*lengths))
            return builder.set(node.output(), reversed(input, lengths->front()));
        std::vector<ir::ValueId> sequences;
        std::vector<std::int64_t> first(shape.rank(), 0);
        std::vector<std::int64_t> count = extents_of(shape);
        count[axes.batch] = 1;
        for (const std::int32_t length : *lengths) {
            sequences.push_back(reversed(builder.slice(input, first, count), length));
            ++first[axes.batch];
        }
        builder.set(node.output(), builder.append("concat", {{"axis", static_cast<std::int64_t>(axes.batch)}},
                                                  std::move(sequences)));
    }
    void compute(const TensorCall& call) const override {
        const ir::Shape& shape = call.node.input(0).shape;
        const SequenceAxes axes(call.node.node());
        const std::vector<std::int32_t> all = indices_of(call, 1);
        const std::vector<std::ptrdiff_t> strides = packed_strides(shape);
        const auto step = static_cast<std::size_t>(strides[axes.time]);
        const std::size_t elements = shape.elements();
        const std::size_t bytes = bytes_of(call.node.input(0).type);
        const auto* from = call.input<std::uint8_t>(0);
        auto* to = call.output<std::uint8_t>();
        for (std::size_t image = 0; image < call.batch; ++image) {
            const std::span<const std::int32_t> lengths = of_inference(call, 1, all, image);
            check_lengths(shape, axes, lengths);
            for (std::size_t i = 0; i < elements; ++i, to += bytes) {
                const std::size_t sequence =
                    i / static_cast<std::size_t>(strides[axes.batch]) % shape[axes.batch];
                const std::size_t time = i / step % shape[axes.time];
                const auto length = static_cast<std::size_t>(lengths[sequence]);
                const std::size_t line = i - time * step;
                const std::size_t place = time < length ? line + (length - 1 - time) * step : i;
                std::memcpy(to, from + place * bytes, bytes);
            }
            if (!call.node.input(0).constant) from += elements * bytes;
        }
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_reverse_sequence() {
    return std::make_unique<ReverseSequence>();
}

}  // namespace systole::operators
