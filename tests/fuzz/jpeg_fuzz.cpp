// Any bytes as a JPEG file.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "sim/run/input/formats.h"
#include "sim/run/input/images.h"

using namespace systole::input;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const Images image = read_jpeg({data, size}, "fuzz");
        if (image.size() != image.pixels()->size()) std::abort();
        if (image.channels != 1 && image.channels != 3) std::abort();
    } catch (const InputError&) {
    }
    return 0;
}
