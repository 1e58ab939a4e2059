#include "compiler/target/tensor_core/narrow_images.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/window.h"
#include "compiler/operators/operator.h"
#include "compiler/target/tensor_core/layout.h"

namespace systole::tensor_core {
namespace {

using ir::NodeId;
using ir::ValueId;
using Numbers = std::vector<std::int64_t>;

/// Lines pad at most one in so many bytes of what pixels pad.
constexpr std::uint64_t least_padding_saved = 2;

// Axes of images: a 1, then these.
constexpr std::size_t images_axis = 1;
constexpr std::size_t height_axis = 2;
constexpr std::size_t width_axis = 3;
constexpr std::size_t channels_axis = 4;
constexpr std::size_t image_axes = 5;

class NarrowImages {
public:
    NarrowImages(ir::Graph graph, std::uint64_t lanes)
        : graph_(std::move(graph)), lanes_(lanes), readers_(ir::readers(graph_)), old_(graph_.nodes.size()) {
        // A node that reads a value twice is changed once.
        for (std::vector<NodeId>& readers : readers_)
            readers.erase(std::unique(readers.begin(), readers.end()), readers.end());
    }

    ir::Graph change() && {
        for (const ValueId input : std::vector<ValueId>(graph_.inputs)) {
            if (!is_narrow(input) || ir::is_replaced(graph_, input) || !all_read_lines(input)) continue;
            const NodeId first = readers_[input].front();
            read_lines(input, add(first, "reshape", {{"shape", lines_of(input)}}, input));
        }
        put_in_order();
        return std::move(graph_);
    }

private:
    const ir::Shape& shape(ValueId id) const { return graph_.values[id].shape; }

    Numbers lines_of(ValueId id) const {
        const ir::Shape& images = shape(id);
        return {1, images[images_axis], images[height_axis],
                std::int64_t{images[width_axis]} * images[channels_axis]};
    }

    bool is_narrow(ValueId id) const {
        const ir::Shape& images = shape(id);
        if (images.rank() != image_axes || images[0] != 1 || images[images_axis] == 1) return false;
        const auto bytes = [&](std::uint64_t rows, std::uint64_t columns) {
            const std::array<std::uint64_t, 2> extents{rows, columns};
            return padded(extents, Element::Word, lanes_).bytes;
        };
        const std::uint64_t lines = std::uint64_t{images[images_axis]} * images[height_axis];
        const std::uint64_t width = images[width_axis];
        const std::uint64_t channels = images[channels_axis];
        return bytes(lines, width * channels) * least_padding_saved <= bytes(lines * width, channels);
    }

    /// A convolution among those that read them, and nothing else that needs pixels.
    bool all_read_lines(ValueId id) const {
        bool convolved = false;
        const auto can_read = [&](NodeId reader) { return can_read_lines(reader, id, convolved); };
        return !readers_[id].empty() && !ir::is_output(graph_, id) &&
               std::ranges::all_of(readers_[id], can_read) && convolved;
    }
    bool can_read_lines(NodeId id, ValueId images, bool& convolved) const {
        const ir::Node& node = graph_.nodes[id];
        const auto all_can = [&](ValueId result) {
            const auto can_read = [&](NodeId reader) { return can_read_lines(reader, result, convolved); };
            return !ir::is_output(graph_, result) && std::ranges::all_of(readers_[result], can_read);
        };
        if (node.is("word_convolution")) {
            convolved = true;
            return node.inputs[0] == images && node.inputs[1] != images && node.integer("groups") == 1 &&
                   node.integer("spread_y") == 1 && node.integer("spread_x") == 1 &&
                   ir::window_of(node) != ir::Window{};
        }
        if (node.is("transpose")) return node.integers("permutation") == to_lanes;
        if (node.is("pad")) {
            const auto keeps = [&](const char* side) {
                const Numbers& pixels = node.integers(side);
                return pixels[0] == 0 && pixels[images_axis] == 0 && pixels[channels_axis] == 0;
            };
            return node.text("mode") == "constant" && keeps("before") && keeps("after") &&
                   all_can(node.output());
        }
        if (!node.is("word_chain") || !(shape(node.output()) == shape(images))) return false;
        const auto is_number = [&](ValueId input) {
            // A number of as many axes as images would give lines another one.
            return input == images || (graph_.values[input].constant && shape(input).elements() == 1 &&
                                       shape(input).rank() < image_axes);
        };
        return std::ranges::all_of(node.inputs, is_number) && all_can(node.output());
    }

    /// All that reads images reads their lines.
    void read_lines(ValueId images, ValueId lines) {
        const ir::Shape pixels = images == lines ? pixels_.at(images) : shape(images);
        for (const NodeId reader : readers_[images]) {
            if (graph_.nodes[reader].is("word_convolution")) {
                const Numbers whole = numbers_of(pixels);
                graph_.nodes[reader].inputs[0] = add(reader, "reshape", {{"shape", whole}}, lines);
            } else if (graph_.nodes[reader].is("transpose")) {
                transpose_lines(reader, pixels, lines);
            } else {
                change_result(reader, pixels, images, lines);
            }
        }
    }

    /// Images go to the lanes first, while width and channels are one axis; then channels before pixels.
    void transpose_lines(NodeId reader, const ir::Shape& pixels, ValueId lines) {
        const ValueId in_lanes = add(reader, "transpose", {{"permutation", Numbers{0, 2, 3, 1}}}, lines);
        const ValueId whole = add(reader, "reshape",
                                  {{"shape", Numbers{1, pixels[height_axis], pixels[width_axis],
                                                     pixels[channels_axis], pixels[images_axis]}}},
                                  in_lanes);
        ir::Node& node = graph_.nodes[reader];
        node.inputs[0] = whole;
        node.set("permutation", Numbers{0, 3, 1, 2, 4});
    }

    void change_result(NodeId reader, const ir::Shape& pixels, ValueId images, ValueId lines) {
        ir::Node& node = graph_.nodes[reader];
        std::ranges::replace(node.inputs, images, lines);
        if (node.is("pad")) {
            for (const char* const side : {"before", "after"}) {
                Numbers of_lines = node.integers(side);
                of_lines[width_axis] *= pixels[channels_axis];
                of_lines.pop_back();
                node.set(side, std::move(of_lines));
            }
        }
        const ValueId result = node.output();
        pixels_.emplace(result, shape(result));
        infer_shapes_of(graph_, reader);
        read_lines(result, result);
    }

    static Numbers numbers_of(const ir::Shape& shape) {
        return {shape.extents().begin(), shape.extents().end()};
    }

    /// Adds a node that belongs before an old one, and is of its layer.
    ValueId add(NodeId before, const char* op, std::vector<ir::NamedAttribute> attributes, ValueId input) {
        before_.push_back(before);
        return graph_.append(graph_.nodes[before].name, operators::registry().at(op), std::move(attributes),
                             {input}, graph_.values[input].stored_as, {{.type = graph_.values[input].type}});
    }

    void put_in_order() {
        std::vector<ir::Node> nodes;
        for (NodeId id = 0; id < old_; ++id) {
            for (std::size_t i = 0; i < before_.size(); ++i) {
                if (before_[i] == id) nodes.push_back(std::move(graph_.nodes[old_ + i]));
            }
            nodes.push_back(std::move(graph_.nodes[id]));
        }
        graph_.nodes = std::move(nodes);
    }

    static inline const Numbers to_lanes{0, channels_axis, height_axis, width_axis, images_axis};

    ir::Graph graph_;
    const std::uint64_t lanes_;
    std::vector<std::vector<NodeId>> readers_;
    const std::size_t old_;                ///< nodes
    std::vector<NodeId> before_;           ///< by new node: the old one that it belongs before
    std::map<ValueId, ir::Shape> pixels_;  ///< of results that are lines now
};

}  // namespace

ir::Graph with_lines_of_narrow_images(ir::Graph graph, std::uint64_t lanes) {
    return NarrowImages(std::move(graph), lanes).change();
}

}  // namespace systole::tensor_core
