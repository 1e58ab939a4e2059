// Any bytes as a NumPy file, plain or gzip: an array, images and labels.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <variant>
#include <vector>

#include "sim/run/input/byte_stream.h"
#include "sim/run/input/formats.h"

using namespace systole::input;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        ByteStream stream({data, size}, "fuzz");
        const Array array = read_npy_array(stream);
        if (const auto* floats = std::get_if<std::vector<float>>(&array.values)) {
            for (const float value : *floats) {
                if (!std::isfinite(value)) std::abort();
            }
        }
        const Images images = images_of(array, {}, "fuzz");
        const std::size_t values = std::visit([](const auto& each) { return each.size(); }, images.values);
        if (images.size() != values) std::abort();
    } catch (const InputError&) {
    }
    try {
        ByteStream stream({data, size}, "fuzz");
        if (read_npy_labels(stream).empty()) std::abort();
    } catch (const InputError&) {
    }
    return 0;
}
