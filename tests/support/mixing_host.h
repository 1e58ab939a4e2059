#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "hw/isa/host_processor.h"

namespace systole::tests {

/// A host that computes no network: each result byte of an inference mixes all bytes that the segment reads
/// of this inference, so that a wrong value, place or order shows. It works for 11 cycles, 5 for each segment
/// before it and 3 for each inference.
class MixingHost final : public isa::HostProcessor {
public:
    static constexpr Cycle cycles_of(const isa::HostWork& work) {
        return 11 + Cycle{5} * work.segment + Cycle{3} * work.images;
    }

    Cycle cycles(const isa::HostWork& work) const override { return cycles_of(work); }

    void compute(const isa::HostWork& work, const isa::HostTensors& tensors) override {
        for (std::uint32_t image = 0; image < work.images; ++image) {
            std::uint32_t sum = 17U * work.segment;
            for (const auto& read : tensors.reads) {
                for (const std::uint8_t byte : image_of(read, image, work.images)) sum = 31 * sum + byte;
            }
            for (const auto& write : tensors.writes) {
                for (std::uint8_t& byte : image_of(write, image, work.images)) {
                    sum = sum * 0x9e3779b1U + 1;
                    byte = static_cast<std::uint8_t>(sum >> 24U);
                }
            }
        }
    }

private:
    template <class Byte>
    static std::span<Byte> image_of(std::span<Byte> tensor, std::uint32_t image, std::uint32_t images) {
        const std::size_t bytes = tensor.size() / images;
        return tensor.subspan(image * bytes, bytes);
    }
};

/// The one for all tests; it has no state.
inline isa::HostProcessor& mixing_host() {
    static MixingHost host;
    return host;
}

}  // namespace systole::tests
