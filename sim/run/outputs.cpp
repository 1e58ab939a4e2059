#include "sim/run/outputs.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "base/conversion.h"
#include "base/stored_integers.h"
#include "compiler/ir/encoding.h"
#include "hw/math/floats/word_values.h"
#include "sim/run/host.h"
#include "sim/run/input/axes.h"
#include "sim/run/network.h"

namespace systole::run {
namespace {

/// The shape of an output in the order of the graph, and the permutation to that of the network's file.
struct OutputAxes {
    std::vector<std::uint32_t> extents = {};  ///< of one inference
    std::vector<std::uint32_t> file_axes = {};
    bool has_batch = true;  ///< the first axis of the array is the number of inferences, also if that is 1
};

OutputAxes axes_of(const ir::Value& output) {
    const InferenceAxes axes = axes_of_inference(output);
    return {.extents = axes.extents, .file_axes = axes.file_axes, .has_batch = axes.has_batch};
}

/// The array's shape, and its values in the order of the file.
OutputArray in_file_order(std::string name, std::uint64_t inferences, const OutputAxes& axes,
                          std::vector<float> values) {
    OutputArray array{.name = std::move(name), .shape = {}, .values = {}, .type = {}, .stored = {}};
    array.type = DataType::Float32;
    if (axes.has_batch || inferences != 1) array.shape.push_back(inferences);
    for (const std::uint32_t extent : input::permuted(axes.extents, axes.file_axes)) {
        array.shape.push_back(extent);
    }
    array.values = input::permuted(std::move(values), inferences, axes.extents, axes.file_axes);
    const std::uint64_t size =
        std::accumulate(array.shape.begin(), array.shape.end(), std::uint64_t{1}, std::multiplies<>());
    if (size != array.values.size()) throw std::logic_error("an output of another size than its shape");
    return array;
}

/// Bytes of elements in the order of the file.
template <typename T>
std::vector<std::uint8_t> elements_in_file_order(std::span<const std::uint8_t> stored,
                                                 std::uint64_t inferences,
                                                 std::span<const std::uint32_t> extents,
                                                 std::span<const std::uint32_t> file_axes) {
    std::vector<T> elements(stored.size() / sizeof(T));
    std::memcpy(elements.data(), stored.data(), elements.size() * sizeof(T));
    elements = input::permuted(std::move(elements), inferences, extents, file_axes);
    std::vector<std::uint8_t> bytes(elements.size() * sizeof(T));
    std::memcpy(bytes.data(), elements.data(), bytes.size());
    return bytes;
}

std::vector<std::uint8_t> stored_in_file_order(const isa::BorderTensor& tensor,
                                               std::span<const std::uint8_t> stored, std::uint64_t inferences,
                                               std::span<const std::uint32_t> extents,
                                               std::span<const std::uint32_t> file_axes) {
    switch (bytes_of(tensor.type)) {
        case 1:
            return elements_in_file_order<std::uint8_t>(stored, inferences, extents, file_axes);
        case 2:
            return elements_in_file_order<std::uint16_t>(stored, inferences, extents, file_axes);
        case 4:
            return elements_in_file_order<std::uint32_t>(stored, inferences, extents, file_axes);
        default:
            throw std::logic_error("an output of elements of another size");
    }
}

}  // namespace

std::vector<std::uint32_t> words_of(const OutputArray& array) {
    std::vector<std::uint32_t> words(array.stored.size() / bytes_of(array.type));
    math::to_words(array.stored.data(), array.type, words);
    return words;
}

OutputArray array_in_format(std::string name, std::vector<std::uint64_t> shape, DataType type,
                            std::span<const std::uint32_t> words) {
    const DataType written = type == DataType::Bfloat16 ? DataType::Float32 : type;
    OutputArray array{
        .name = std::move(name), .shape = std::move(shape), .values = {}, .type = written, .stored = {}};
    array.stored.resize(words.size() * bytes_of(written));
    math::from_words(words, written, array.stored.data());
    return array;
}

OutputArray output_array(const ir::Value& output, std::uint64_t inferences, std::vector<float> values) {
    return in_file_order(output.name, inferences, axes_of(output), std::move(values));
}

OutputArray output_array(const isa::Program& program, const ir::Value* output, const Outputs& outputs,
                         std::span<const std::uint8_t> stored, std::size_t number) {
    const isa::BorderTensor& tensor = program.outputs.at(number);
    const OutputAxes axes = output != nullptr ? axes_of(*output) : OutputAxes{.extents = tensor.shape};
    OutputArray array = in_file_order(output != nullptr ? output->name : tensor.name, program.inferences,
                                      axes, outputs.values);
    if (program.host_operations.empty() && is_integer(tensor.type)) {
        array.type = tensor.type;
        array.stored = stored_in_file_order(tensor, stored, program.inferences, axes.extents, axes.file_axes);
    }
    return array;
}

namespace {

/// The whole arrays of several replicas: their parts along an axis, or what the first one has.
OutputArray whole_array(const isa::Program& program, const std::vector<std::uint32_t>& words,
                        std::size_t number) {
    const isa::BorderTensor& tensor = program.outputs.at(number);
    const std::uint32_t replicas = program.arrays->replicas;
    std::vector<std::uint32_t> extents = tensor.shape;
    const std::uint64_t inferences = isa::inferences_of_output(program, number);
    const std::uint64_t steps = inferences / replicas;
    const std::size_t each = words.size() / inferences;
    std::vector<std::uint32_t> whole;
    std::size_t inner = each;
    if (tensor.split_axis) {
        inner = 1;
        for (std::size_t axis = *tensor.split_axis; axis < extents.size(); ++axis) inner *= extents[axis];
        extents.at(*tensor.split_axis) *= replicas;
    }
    for (std::uint64_t step = 0; step < steps; ++step) {
        for (std::size_t line = 0; line < each / inner; ++line) {
            for (std::uint64_t replica = 0; replica < (tensor.split_axis ? replicas : 1); ++replica) {
                const std::size_t place = (step * replicas + replica) * each + line * inner;
                const auto first = words.begin() + static_cast<std::ptrdiff_t>(place);
                whole.insert(whole.end(), first, first + static_cast<std::ptrdiff_t>(inner));
            }
        }
    }
    std::vector<std::uint64_t> shape;
    if (steps != 1) shape.push_back(steps);
    shape.insert(shape.end(), extents.begin(), extents.end());
    return array_in_format(tensor.name, std::move(shape), tensor.type, whole);
}

}  // namespace

OutputArray array_of_words(const isa::Program& program, const ir::Value* output,
                           std::vector<std::uint32_t> words, std::size_t number, bool keeps_first_axis) {
    // Programs of several replicas have no order of axes of their own.
    if (program.arrays && program.arrays->replicas > 1) return whole_array(program, words, number);
    const isa::BorderTensor& tensor = program.outputs.at(number);
    const OutputAxes axes = output != nullptr ? axes_of(*output) : OutputAxes{.extents = tensor.shape};
    std::vector<std::uint64_t> shape;
    const std::uint64_t inferences = isa::inferences_of_output(program, number);
    if (inferences != 1 || (keeps_first_axis && axes.has_batch)) shape.push_back(inferences);
    for (const std::uint32_t extent : input::permuted(axes.extents, axes.file_axes)) shape.push_back(extent);
    words = input::permuted(std::move(words), inferences, axes.extents, axes.file_axes);
    return array_in_format(output != nullptr ? output->name : tensor.name, std::move(shape), tensor.type,
                           words);
}

ShownOutput shown_output(const OutputArray& array, DataType type) {
    constexpr std::size_t most = 8;
    std::vector<std::uint32_t> words(std::min(most, array.stored.size() / bytes_of(array.type)));
    math::to_words(array.stored.data(), array.type, words);
    ShownOutput shown{.name = array.name, .type = type, .shape = array.shape, .first = {}};
    for (const std::uint32_t word : words) shown.first.push_back(number_of_word(word, array.type));
    return shown;
}

void add_constant_arrays(const isa::Program& program, std::vector<OutputArray>& arrays,
                         std::vector<DataType>& types) {
    if (!program.arrays) return;
    for (const isa::ConstantOutput& constant : program.arrays->constants) {
        std::vector<std::uint32_t> words(constant.words.size() / isa::word_bytes);
        std::memcpy(words.data(), constant.words.data(), constant.words.size());
        const isa::BorderTensor& tensor = constant.tensor;
        // In ascending order of their places.
        const auto place = static_cast<std::ptrdiff_t>(std::min<std::size_t>(constant.place, arrays.size()));
        arrays.insert(
            arrays.begin() + place,
            array_in_format(tensor.name, {tensor.shape.begin(), tensor.shape.end()}, tensor.type, words));
        types.insert(types.begin() + place, tensor.type);
    }
}

void add_constant_outputs(const ir::Graph& graph, std::vector<OutputArray>& arrays) {
    for (const auto& [place, value] : graph.constant_outputs) {
        const std::span<const std::uint8_t> bytes = value.constant->bytes();
        OutputArray array{.name = value.name,
                          .shape = {value.shape.extents().begin(), value.shape.extents().end()},
                          .values = {},
                          .type = value.type,
                          .stored = {}};
        if (is_integer(value.type)) {
            std::vector<std::int32_t> numbers(value.shape.elements());
            widen(bytes.data(), value.type, numbers);
            const ir::ScaleAxis scales = ir::scale_axis(value);
            for (std::size_t i = 0; i < numbers.size(); ++i) {
                const std::size_t index = scales.index_of(i);
                array.values.push_back(value.quantization
                                           ? real_number(numbers[i], value.quantization->scales[index],
                                                         value.quantization->zero_points[index])
                                           : static_cast<float>(numbers[i]));
            }
            array.stored.assign(bytes.begin(), bytes.end());
        } else {
            const std::span<const float> reals = value.constant->values<float>();
            array.values.assign(reals.begin(), reals.end());
        }
        // In ascending order of their places.
        arrays.insert(arrays.begin() + static_cast<std::ptrdiff_t>(std::min(place, arrays.size())),
                      std::move(array));
    }
}

std::vector<BestClasses> best_classes(const Outputs& outputs, std::span<const std::string> names) {
    constexpr std::size_t most_inferences = 8;
    constexpr std::size_t most_classes = 5;
    std::vector<BestClasses> best;
    std::vector<std::uint32_t> order(outputs.per_inference);
    for (std::size_t i = 0; i < std::min(most_inferences, outputs.predictions.size()); ++i) {
        const auto scores =
            std::span(outputs.values).subspan(i * outputs.per_inference, outputs.per_inference);
        std::iota(order.begin(), order.end(), 0U);
        const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(most_classes, order.size()));
        std::partial_sort(order.begin(), end, order.end(), [&](std::uint32_t a, std::uint32_t b) {
            return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
        });
        BestClasses& classes = best.emplace_back();
        for (auto each = order.begin(); each != end; ++each) {
            classes.classes.push_back({.number = *each, .score = scores[*each], .name = names[*each]});
        }
        // After the host's softmax, two classes may have the same probability; the prediction knows better.
        const auto predicted =
            std::ranges::find(classes.classes, outputs.predictions[i], &ClassScore::number);
        if (predicted != classes.classes.end()) {
            std::rotate(classes.classes.begin(), predicted, predicted + 1);
        }
    }
    return best;
}

}  // namespace systole::run
