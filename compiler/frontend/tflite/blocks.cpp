#include "compiler/frontend/tflite/blocks.h"

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "compiler/frontend/tflite/options.h"
#include "compiler/ir/model_error.h"

namespace systole::frontend::tflite {
namespace {

/// Numbers of a constant of int32; nullopt for other tensors or other counts.
template <std::size_t count>
std::optional<std::array<std::int64_t, count>> numbers_of(const File& file, std::int32_t number) {
    if (number < 0 || file.tensor(number).type() != TensorType::INT32) return std::nullopt;
    const std::span<const std::uint8_t> bytes = file.data_of(file.tensor(number));
    std::array<std::int32_t, count> stored{};
    if (bytes.size() != sizeof(stored)) return std::nullopt;
    std::memcpy(stored.data(), bytes.data(), sizeof(stored));
    std::array<std::int64_t, count> numbers{};
    for (std::size_t i = 0; i < count; ++i) numbers[i] = stored[i];
    return numbers;
}

bool is_same_type(const File& file, std::int32_t a, std::int32_t b) {
    const ir::ResultType first = type_of(file.tensor(a));
    const ir::ResultType second = type_of(file.tensor(b));
    return first.type == second.type && first.quantization == second.quantization;
}

class Finder {
public:
    explicit Finder(const File& file)
        : file_(file), producers_(file.tensor_count(), nullptr), readers_(file.tensor_count(), 0) {
        const SubGraph& network = file.network();
        if (network.operators() == nullptr) return;
        for (const Operator* const node : *network.operators()) {
            if (node->outputs() != nullptr) {
                for (const std::int32_t number : *node->outputs()) producers_.at(index_of(number)) = node;
            }
            if (node->inputs() == nullptr) continue;
            for (const std::int32_t number : *node->inputs()) {
                if (number >= 0) ++readers_.at(index_of(number));
            }
        }
        if (network.outputs() == nullptr) return;
        for (const std::int32_t number : *network.outputs()) ++readers_.at(index_of(number));
    }

    /// Adds what replaces the three nodes, if `last` is the last of them.
    void add(const Operator& last, DilatedConvolutions& found) const {
        if (!is(&last, "BATCH_TO_SPACE_ND", 3)) return;
        const Operator* const convolution = only_producer(last.inputs()->Get(0));
        const bool is_convolution = is(convolution, "CONV_2D", 2) || is(convolution, "DEPTHWISE_CONV_2D", 2);
        if (!is_convolution) return;
        const Operator* const first = only_producer(convolution->inputs()->Get(0));
        if (!is(first, "SPACE_TO_BATCH_ND", 3)) return;
        const auto sides = numbers_of<2>(file_, first->inputs()->Get(1));
        const auto borders = numbers_of<4>(file_, first->inputs()->Get(2));
        const auto crops = numbers_of<4>(file_, last.inputs()->Get(2));
        if (!sides || sides != numbers_of<2>(file_, last.inputs()->Get(1)) || !borders || !crops) return;
        const std::int32_t input = first->inputs()->Get(0);
        if (input < 0 || !is_same_type(file_, input, first->outputs()->Get(0)) ||
            !is_same_type(file_, last.inputs()->Get(0), last.outputs()->Get(0))) {
            return;
        }
        const nlohmann::json options = options_of(*convolution);
        for (const char* const option : {"stride_h", "stride_w", "dilation_h_factor", "dilation_w_factor"}) {
            if (options.value(option, 1) != 1) return;
        }
        const ir::Shape kernel = shape_of(file_.tensor(convolution->inputs()->Get(1)));
        constexpr std::size_t rank = 4;
        if (kernel.rank() != rank) return;
        DilatedConvolution dilated{.convolution = convolution, .input = input};
        for (std::size_t axis = 0; axis < 2; ++axis) {
            constexpr std::int64_t most = 1 << 15;
            const std::int64_t side = sides->at(axis);
            if (side < 1 || side > most || kernel[axis + 1] > most) return;
            const std::int64_t covered = options.value("padding", "") == "SAME" ? kernel[axis + 1] - 1 : 0;
            const std::int64_t before = borders->at(2 * axis) - crops->at(2 * axis) + side * (covered / 2);
            const std::int64_t after =
                borders->at(2 * axis + 1) - crops->at(2 * axis + 1) + side * (covered - covered / 2);
            constexpr std::int64_t most_padding = std::int64_t{1} << 31;
            if (before < 0 || after < 0 || before > most_padding || after > most_padding) return;
            dilated.sides.at(axis) = static_cast<std::uint32_t>(side);
            dilated.padding.at(axis) = static_cast<std::uint32_t>(before);
            dilated.padding.at(axis + 2) = static_cast<std::uint32_t>(after);
        }
        found[first] = {};
        found[convolution] = {};
        found[&last] = dilated;
    }

private:
    std::size_t index_of(std::int32_t number) const {
        static_cast<void>(file_.tensor(number));  // checks it
        return static_cast<std::size_t>(number);
    }

    /// Whether a node has this operator, one result and at least so many inputs.
    bool is(const Operator* node, std::string_view op, std::uint32_t inputs) const {
        return node != nullptr && node->inputs() != nullptr && node->inputs()->size() >= inputs &&
               node->outputs() != nullptr && node->outputs()->size() == 1 && file_.operator_of(*node) == op;
    }

    /// The node that computes a tensor that is read once.
    const Operator* only_producer(std::int32_t number) const {
        if (number < 0 || readers_.at(index_of(number)) != 1) return nullptr;
        return producers_.at(index_of(number));
    }

    const File& file_;
    std::vector<const Operator*> producers_;  ///< by tensor
    std::vector<std::uint32_t> readers_;      ///< by tensor: its readers, with the network's outputs
};

}  // namespace

DilatedConvolutions find_dilated_convolutions(const File& file) {
    DilatedConvolutions found;
    try {
        const Finder finder(file);
        if (file.network().operators() != nullptr) {
            for (const Operator* const node : *file.network().operators()) finder.add(*node, found);
        }
    } catch (const ModelError&) {
        // The reader meets the same fault and says where it is.
        return {};
    }
    return found;
}

}  // namespace systole::frontend::tflite
