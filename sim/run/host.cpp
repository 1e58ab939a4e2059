#include "sim/run/host.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "base/arithmetic.h"
#include "base/conversion.h"
#include "base/stored_integers.h"
#include "hw/isa/program_error.h"
#include "hw/math/floats/word_values.h"
#include "sim/run/baselines/comparison.h"

namespace systole::run {
namespace {

void softmax(std::span<float> logits) {
    const float largest = *std::max_element(logits.begin(), logits.end());
    float sum = 0.0F;
    for (float& logit : logits) {
        logit = std::exp(logit - largest);
        sum += logit;
    }
    for (float& logit : logits) logit /= sum;
}

/// A kind of work of the host, with its cost. An exponential counts as one operation. Bytes are those of
/// operand and result: one of the two is a float, the other has the format that the chip stores.
struct HostKind {
    std::string_view kind;
    double operations_per_element;
    double bytes_per_element;                   ///< of the float
    void (*compute)(std::span<float> outputs);  ///< on one inference; null if the work is not on outputs
};

constexpr std::array kinds{
    // divide, round, add, clamp
    HostKind{"quantize_input", 4, 4, nullptr},
    // subtract the zero point, scale, find the largest, subtract it, exponential, sum, divide
    HostKind{"softmax", 7, 4, softmax},
};

const HostKind* find_kind(std::string_view name) {
    const auto found =
        std::find_if(kinds.begin(), kinds.end(), [&](const HostKind& kind) { return kind.kind == name; });
    return found == kinds.end() ? nullptr : &*found;
}

/// The elements of a tensor of integers, of whatever type.
std::vector<std::int32_t> stored_numbers(const isa::BorderTensor& tensor,
                                         std::span<const std::uint8_t> stored) {
    std::vector<std::int32_t> numbers(stored.size() / bytes_of(tensor.type));
    widen(stored.data(), tensor.type, numbers);
    return numbers;
}

/// The real numbers that the stored bytes of a tensor represent.
std::vector<float> real_values(const isa::BorderTensor& tensor, std::span<const std::uint8_t> stored) {
    std::vector<float> values(stored.size() / bytes_of(tensor.type));
    if (tensor.type == DataType::Float32) {
        std::memcpy(values.data(), stored.data(), values.size() * sizeof(float));
        return values;
    }
    std::ranges::transform(stored_numbers(tensor, stored), values.begin(), [&](std::int32_t number) {
        return real_number(number, tensor.scale, tensor.zero_point);
    });
    return values;
}

/// The first of the largest elements of each inference.
template <typename Number>
std::vector<std::uint32_t> largest_elements(std::span<const Number> elements, std::uint64_t per_inference) {
    std::vector<std::uint32_t> largest;
    for (std::size_t first = 0; first < elements.size(); first += per_inference) {
        const auto row = elements.subspan(first, per_inference);
        largest.push_back(static_cast<std::uint32_t>(std::ranges::max_element(row) - row.begin()));
    }
    return largest;
}

std::uint64_t elements_of(const isa::BorderTensor& tensor) {
    std::uint64_t elements = 1;
    for (const std::uint32_t extent : tensor.shape) elements *= extent;
    return elements;
}

}  // namespace

void check_host_operations(const isa::Program& program) {
    if (!program.host_operations.empty() && program.outputs.empty()) {
        throw isa::ProgramError(fmt::format(
            "{}: it leaves work on its output to the host, but declares no output", program.model));
    }
    for (const isa::HostOperation& operation : program.host_operations) {
        const HostKind* kind = find_kind(operation.kind);
        if (kind == nullptr || kind->compute == nullptr) {
            throw isa::ProgramError(
                fmt::format("{}: the host operation of layer \"{}\" is \"{}\"; the host knows softmax",
                            program.model, operation.layer, operation.kind));
        }
    }
}

bool gives_classes(const isa::BorderTensor& output) {
    const auto begin = output.shape.begin();
    return !output.shape.empty() && output.shape.back() > 1 &&
           std::all_of(begin, output.shape.end() - 1, [](std::uint32_t extent) { return extent == 1; });
}

std::optional<std::size_t> class_output(const isa::Program& program, bool of_arrays) {
    if (program.arrays && program.arrays->replicas > 1) return std::nullopt;
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < program.outputs.size(); ++i) {
        const isa::BorderTensor& output = program.outputs[i];
        if (!gives_classes(output) || (of_arrays && !is_float(output.type))) continue;
        if (std::ranges::find(program.state, i, &isa::StateTensors::output) != program.state.end()) continue;
        if (found) return std::nullopt;
        found = i;
    }
    return found;
}

double host_seconds(const HostWork& work, const baselines::Baseline& host) {
    const HostKind* kind = find_kind(work.kind);
    if (kind == nullptr) throw std::logic_error("the host did " + work.kind + ", which it does not know");
    const auto elements = static_cast<double>(work.elements);
    return baselines::work_costs(host).seconds(static_cast<double>(work.calls),
                                               elements * kind->operations_per_element,
                                               elements * (kind->bytes_per_element + bytes_of(work.type)));
}

std::uint64_t host_calls(const isa::Program& program) {
    return program.batch > 0 ? divide_up(program.inferences, std::uint64_t{program.batch}) : 1;
}

std::vector<HostWork> output_work(const isa::Program& program) {
    std::vector<HostWork> work;
    for (const isa::HostOperation& operation : program.host_operations) {
        work.push_back({.kind = operation.kind,
                        .layer = operation.layer,
                        .elements = program.inferences * elements_of(program.outputs.front()),
                        .type = program.outputs.front().type,
                        .calls = host_calls(program),
                        .seconds = {}});
    }
    return work;
}

Outputs read_outputs(const isa::Program& program, std::span<const std::uint8_t> stored, std::size_t output) {
    const isa::BorderTensor& tensor = program.outputs.at(output);
    Outputs outputs;
    outputs.per_inference = elements_of(tensor);

    outputs.values = real_values(tensor, stored);

    // The classes come from the stored numbers: nothing that the host does changes their order, but two
    // integers of 32 bits, or two probabilities, may become the same float.
    if (class_output(program) == output) {
        outputs.predictions =
            is_integer(tensor.type)
                ? largest_elements<std::int32_t>(stored_numbers(tensor, stored), outputs.per_inference)
                : largest_elements<float>(outputs.values, outputs.per_inference);
    }
    for (const isa::HostOperation& operation : program.host_operations) {
        const HostKind* kind = find_kind(operation.kind);
        for (std::size_t first = 0; first < outputs.values.size(); first += outputs.per_inference) {
            kind->compute(std::span(outputs.values).subspan(first, outputs.per_inference));
        }
    }
    return outputs;
}

double number_of_word(std::uint32_t word, DataType type) {
    if (is_float(type)) return std::bit_cast<float>(word);
    return type == DataType::Uint32 ? static_cast<double>(word)
                                    : static_cast<double>(static_cast<std::int32_t>(word));
}

Outputs read_word_outputs(const isa::Program& program, std::span<const std::uint32_t> words,
                          std::size_t output, bool with_predictions) {
    const isa::BorderTensor& tensor = program.outputs.at(output);
    Outputs outputs;
    outputs.per_inference = elements_of(tensor);
    outputs.values.resize(words.size());
    std::ranges::transform(words, outputs.values.begin(), [&](std::uint32_t word) {
        return static_cast<float>(number_of_word(word, tensor.type));
    });
    if (with_predictions && class_output(program, true) == output) {
        outputs.predictions = largest_elements<float>(outputs.values, outputs.per_inference);
    }
    return outputs;
}

double accuracy(std::span<const std::uint32_t> predictions, std::span<const std::uint32_t> labels) {
    if (predictions.size() != labels.size() || labels.empty()) {
        throw std::logic_error("accuracy needs as many labels as predictions, and at least one");
    }
    std::uint64_t right = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) right += predictions[i] == labels[i] ? 1 : 0;
    return static_cast<double>(right) / static_cast<double>(labels.size());
}

}  // namespace systole::run
