#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/graph.h"
#include "tests/support/file_nodes.h"
#include "tests/support/graphs.h"

/// Nodes of network files that find places of a tensor by computed indices, of every operator that has them.
namespace systole::tests::nodes {

struct IndexedNode {
    FileNode node;
    std::vector<Tensor> inputs;
    std::size_t indices = 0;             ///< the input that has them
    std::vector<std::uint32_t> extents;  ///< by index: that of the axis that it names
    bool counts_from_end = true;

    std::int32_t least(std::size_t index) const {
        return counts_from_end ? -static_cast<std::int32_t>(extents[index]) : 0;
    }
    void set(std::size_t index, std::int32_t number) {
        Tensor& tensor = inputs[indices];
        std::vector<std::int32_t> all = tensor.integers();
        all[index] = number;
        tensor = nodes::integers(tensor.shape, all);
    }
};

/// A number that the index may not be, on either side.
inline std::int32_t outside(GraphParts& parts, const IndexedNode& node, std::size_t index) {
    const auto extent = static_cast<std::int32_t>(node.extents[index]);
    const auto further = static_cast<std::int32_t>(parts.number(0, 9));
    const std::array<std::int32_t, 6> numbers{extent,
                                              extent + further,
                                              node.least(index) - 1,
                                              node.least(index) - 1 - further,
                                              std::numeric_limits<std::int32_t>::max(),
                                              std::numeric_limits<std::int32_t>::min()};
    return numbers.at(parts.number(0, 5));
}

/// Draws a node with indices that are all inside. Numbers are small and whole, so that their sums and
/// products are the same in any order.
class IndexedNodes {
public:
    explicit IndexedNodes(GraphParts& parts) : parts_(parts) {}

    IndexedNode draw() {
        const std::vector<std::uint32_t> extents = drawn_extents(1, 3);
        shape_ = ir::Shape(extents);
        drawn_ = {};
        switch (parts_.number(0, 8)) {
            case 0:
                return gather(onnx("Gather"));
            case 1:
                drawn_.counts_from_end = false;
                return gather(tflite("GATHER"));
            case 2:
                return gather_elements();
            case 3:
                return gather_nd();
            case 4:
                drawn_.counts_from_end = false;
                return tuples(tflite("GATHER_ND"), {}, 0, {tensor()});
            case 5:
                return scatter_elements();
            case 6:
                return tuples(onnx("ScatterND", {{"reduction", reduction()}}), {}, 0, {tensor()}, true);
            case 7:
                drawn_.counts_from_end = false;
                return scatter_on_zeros();
            default:
                return embedding();
        }
    }

private:
    std::vector<std::uint32_t> drawn_extents(std::uint32_t least, std::uint32_t most) {
        std::vector<std::uint32_t> extents(parts_.number(least, most));
        for (std::uint32_t& extent : extents) extent = parts_.number(1, 5);
        return extents;
    }
    Tensor numbers(const ir::Shape& shape) {
        std::vector<float> drawn(shape.elements());
        for (float& number : drawn) number = parts_.number(0, 1) == 0 ? -2.0F : 1.0F;
        return reals(shape, drawn);
    }
    /// At times a constant.
    Tensor tensor() {
        Tensor made = numbers(shape_);
        made.is_constant = parts_.number(0, 2) == 0;
        return made;
    }
    std::string reduction() {
        const std::array<const char*, 5> names{"none", "add", "mul", "max", "min"};
        return names.at(parts_.number(0, 4));
    }
    std::uint32_t drawn_axis() { return parts_.number(0, static_cast<std::uint32_t>(shape_.rank()) - 1); }

    /// Indices of these axes in turn.
    void add_indices(const ir::Shape& shape, const std::vector<std::uint32_t>& extents) {
        std::vector<std::int32_t> indices(shape.elements());
        for (std::size_t i = 0; i < indices.size(); ++i) {
            const std::uint32_t extent = extents[i % extents.size()];
            drawn_.extents.push_back(extent);
            indices[i] = static_cast<std::int32_t>(parts_.number(0, extent - 1));
            if (drawn_.counts_from_end && parts_.number(0, 2) == 0)
                indices[i] -= static_cast<std::int32_t>(extent);
        }
        drawn_.indices = drawn_.inputs.size();
        drawn_.inputs.push_back(integers(shape, indices));
    }

    IndexedNode gather(FileNode node) {
        const std::uint32_t axis = drawn_axis();
        node.attributes["axis"] = axis;
        drawn_.node = std::move(node);
        drawn_.inputs = {tensor()};
        add_indices(ir::Shape(drawn_extents(1, 2)), {shape_[axis]});
        return std::move(drawn_);
    }
    ir::Shape beside(std::uint32_t axis) {
        std::vector<std::uint32_t> extents(shape_.extents().begin(), shape_.extents().end());
        for (std::size_t i = 0; i < extents.size(); ++i)
            extents[i] = i == axis ? parts_.number(1, 5) : extents[i] - parts_.number(0, 3) / 3;
        for (std::uint32_t& extent : extents) extent = std::max(extent, 1U);
        return ir::Shape(extents);
    }
    IndexedNode gather_elements() {
        const std::uint32_t axis = drawn_axis();
        drawn_.node = onnx("GatherElements", {{"axis", axis}});
        drawn_.inputs = {tensor()};
        add_indices(beside(axis), {shape_[axis]});
        return std::move(drawn_);
    }
    IndexedNode scatter_elements() {
        const std::uint32_t axis = drawn_axis();
        drawn_.node = onnx("ScatterElements", {{"axis", axis}, {"reduction", reduction()}});
        drawn_.inputs = {tensor()};
        const ir::Shape updated = beside(axis);
        add_indices(updated, {shape_[axis]});
        drawn_.inputs.push_back(numbers(updated));
        return std::move(drawn_);
    }
    IndexedNode gather_nd() {
        const std::uint32_t batch = parts_.number(0, static_cast<std::uint32_t>(shape_.rank()) - 1);
        const auto first = shape_.extents().begin();
        return tuples(onnx("GatherND", {{"batch_dims", batch}}), {first, first + batch}, batch, {tensor()});
    }
    /// Tuples of indices of axes from `first` on, and updates of their slices.
    IndexedNode tuples(FileNode node, std::vector<std::uint32_t> rows, std::uint32_t first,
                       std::vector<Tensor> inputs, bool has_updates = false) {
        drawn_.node = std::move(node);
        drawn_.inputs = std::move(inputs);
        const std::uint32_t axes = parts_.number(1, static_cast<std::uint32_t>(shape_.rank()) - first);
        rows.push_back(parts_.number(1, 4));
        if (parts_.number(0, 1) == 0) rows.push_back(parts_.number(1, 2));
        std::vector<std::uint32_t> extents(shape_.extents().begin() + first,
                                           shape_.extents().begin() + first + axes);
        std::vector<std::uint32_t> of_indices = rows;
        of_indices.push_back(axes);
        add_indices(ir::Shape(of_indices), extents);
        rows.insert(rows.end(), shape_.extents().begin() + first + axes, shape_.extents().end());
        if (has_updates) drawn_.inputs.push_back(numbers(ir::Shape(rows)));
        return std::move(drawn_);
    }
    /// TFLite's has the indices first, and its shape last.
    IndexedNode scatter_on_zeros() {
        IndexedNode made = tuples(tflite("SCATTER_ND"), {}, 0, {}, true);
        std::vector<std::int32_t> shape;
        for (const std::uint32_t extent : shape_.extents())
            shape.push_back(static_cast<std::int32_t>(extent));
        made.inputs.push_back(list(shape));
        return made;
    }
    IndexedNode embedding() {
        drawn_.counts_from_end = false;
        const std::uint32_t rows = parts_.number(1, 5);
        const std::uint32_t columns = parts_.number(1, 5);
        drawn_.node = keras("Embedding", {{"input_dim", rows}, {"output_dim", columns}});
        drawn_.node.weights = numbers({rows, columns}).reals();
        add_indices({1, parts_.number(1, 5)}, {rows});
        return std::move(drawn_);
    }

    GraphParts& parts_;
    ir::Shape shape_;
    IndexedNode drawn_;
};

}  // namespace systole::tests::nodes
