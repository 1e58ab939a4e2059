#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace systole::tests {

/// MNIST's test set.
struct Mnist {
    static constexpr std::uint32_t pixels = 28 * 28;  ///< of an image

    std::uint32_t count = 0;
    std::vector<std::uint8_t> images;  ///< packed, one byte a pixel
    std::vector<std::uint8_t> labels;

    /// Pixels from 0 to 1 of the first `images` images.
    std::vector<float> floats(std::uint32_t images) const;
    /// The fraction of images whose outputs, packed, are largest at the label.
    template <typename Value>
    double accuracy(const std::vector<Value>& outputs) const {
        const std::size_t classes = outputs.size() / count;
        std::uint32_t right = 0;
        for (std::uint32_t i = 0; i < count; ++i) {
            std::size_t best = 0;
            for (std::size_t c = 1; c < classes; ++c) {
                if (outputs[i * classes + c] > outputs[i * classes + best]) best = c;
            }
            right += best == labels[i] ? 1 : 0;
        }
        return static_cast<double>(right) / count;
    }
};

/// A file outside the project that may be absent.
std::string shared_data(const std::string& name);

/// nullopt if the files are absent.
std::optional<Mnist> read_mnist();

}  // namespace systole::tests
