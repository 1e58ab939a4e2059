// Any bytes as a zip archive of NumPy files.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <variant>
#include <vector>

#include "sim/run/input/formats.h"
#include "sim/run/input/images.h"

using namespace systole::input;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const std::vector<Array> arrays = read_npz({data, size}, "fuzz");
        if (arrays.empty()) std::abort();
        for (const Array& array : arrays) {
            std::uint64_t values = 1;
            for (const std::uint32_t extent : array.shape) values *= extent;
            if (values != std::visit([](const auto& each) { return each.size(); }, array.values))
                std::abort();
        }
    } catch (const InputError&) {
    }
    return 0;
}
