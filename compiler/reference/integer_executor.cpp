#include <fmt/format.h>

#include <stdexcept>

#include "compiler/operators/lowering.h"
#include "compiler/operators/operator.h"
#include "compiler/reference/executor.h"

namespace systole::reference {
namespace {

using Numbers = std::vector<std::int32_t>;

/// The stored numbers in the bytes; numbers of the chip have one or two bytes.
Numbers numbers_of(std::span<const std::uint8_t> bytes, DataType type) {
    Numbers numbers(bytes.size() / bytes_of(type));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        switch (type) {
            case DataType::Uint8:
                numbers[i] = bytes[i];
                continue;
            case DataType::Int8:
                numbers[i] = static_cast<std::int8_t>(bytes[i]);
                continue;
            case DataType::Int16:
                numbers[i] = static_cast<std::int16_t>(bytes[2 * i] + 256 * bytes[2 * i + 1]);
                continue;
            case DataType::Uint16:
            case DataType::Int32:
            case DataType::Bfloat16:
            case DataType::Float32:
                break;
        }
        throw std::logic_error("the chip stores no such elements");
    }
    return numbers;
}

/// The bytes of numbers: the low bits of each.
TensorBytes bytes_of_numbers(std::span<const std::int32_t> numbers, DataType type) {
    TensorBytes bytes;
    bytes.reserve(numbers.size() * bytes_of(type));
    for (const std::int32_t number : numbers) {
        for (std::uint32_t i = 0; i < bytes_of(type); ++i) {
            bytes.push_back(static_cast<std::uint8_t>(number >> (8 * i)));
        }
    }
    return bytes;
}

/// The numbers of every value that the chip computes.
std::vector<Numbers> compute(const ir::Graph& graph, std::span<const std::uint8_t> input,
                             std::uint32_t batch) {
    const ir::Value& first = graph.input();
    const std::size_t input_bytes = first.shape.elements() * bytes_of(first.type) * batch;
    if (input.size() != input_bytes) {
        throw std::logic_error(fmt::format("the input has {} bytes; {} images of the network need {}",
                                           input.size(), batch, input_bytes));
    }
    std::vector<Numbers> values(graph.values.size());
    values[graph.inputs.front()] = numbers_of(input, first.type);
    for (const ir::Node& node : graph.nodes) {
        const operators::Operator& op = operators::operator_of(node);
        if (op.runs_on_host()) break;
        const ir::NodeView view(graph, node);
        std::vector<const std::int32_t*> inputs;
        for (std::size_t i = 0; i < view.data_inputs(); ++i) inputs.push_back(values[node.inputs[i]].data());
        Numbers& result = values[node.output()];
        result.resize(batch * view.output().shape.elements());
        op.execute({.node = view, .inputs = inputs, .batch = batch, .output = result.data()});
    }
    return values;
}

}  // namespace

std::vector<TensorBytes> execute_all(const ir::Graph& graph, std::span<const std::uint8_t> input,
                                     std::uint32_t batch) {
    const std::vector<Numbers> values = compute(graph, input, batch);
    std::vector<TensorBytes> bytes;
    for (ir::ValueId id = 0; id < values.size(); ++id) {
        bytes.push_back(bytes_of_numbers(values[id], graph.values[id].type));
    }
    return bytes;
}

TensorBytes execute(const ir::Graph& graph, std::span<const std::uint8_t> input, std::uint32_t batch) {
    const std::vector<Numbers> values = compute(graph, input, batch);
    const ir::ValueId output = operators::chip_output(graph);
    return bytes_of_numbers(values[output], graph.values[output].type);
}

}  // namespace systole::reference
