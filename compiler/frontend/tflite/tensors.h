#pragma once

#include <tflite_generated.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace systole::frontend::tflite {

/// A file whose tables fit the schema and lie inside it.
class File {
public:
    /// `bytes` must outlive this object. Throws ModelError unless the file is whole and valid.
    explicit File(std::span<const std::uint8_t> bytes);

    const Model& model() const { return *model_; }
    /// Bytes of the file.
    std::size_t size() const { return bytes_.size(); }
    /// The subgraph that is the network: the first one unless another is chosen. Throws ModelError if there
    /// is none.
    const SubGraph& network() const;
    void choose_network(std::uint32_t subgraph) { network_ = subgraph; }
    /// The tensors of the network. Throws ModelError for a number that it does not have.
    std::size_t tensor_count() const;
    const Tensor& tensor(std::int64_t number) const;
    /// "input_1", or "tensor 7" if it has no name.
    std::string name_of(std::int64_t number) const;
    /// The bytes of a constant; empty for other tensors. Throws ModelError if they are outside the file.
    std::span<const std::uint8_t> data_of(const Tensor& tensor) const;
    /// The name of a node's operator, such as "CONV_2D". Throws ModelError for a custom one.
    std::string operator_of(const Operator& node) const;

private:
    std::span<const std::uint8_t> bytes_;
    const Model* model_ = nullptr;
    std::uint32_t network_ = 0;
};

/// The type in the graph, and the quantization. Throws ModelError if the graph has no such type.
ir::ResultType type_of(const Tensor& tensor);

/// The extents. Throws ModelError if one is not positive or there are too many.
ir::Shape shape_of(const Tensor& tensor);

/// Whether the file leaves the shape or an extent open; `shape` then has nothing or an example.
bool has_open_shape(const Tensor& tensor);

/// Throws ModelError if a tensor of this shape has more elements than a tensor may have.
void check_elements(const ir::Shape& shape);

/// The extents of an input, nullopt for those that the file leaves open without an example.
std::vector<std::optional<std::uint32_t>> input_extents_of(const Tensor& tensor);

/// The contents of a constant in the graph's type: float16 becomes float32, int64 becomes int32, numbers of 4
/// bits become int8. Throws ModelError if the size is wrong, or if a number does not fit.
ir::Constant constant_of(const Tensor& tensor, std::span<const std::uint8_t> data);

}  // namespace systole::frontend::tflite
