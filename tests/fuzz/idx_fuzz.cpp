// Any bytes as an IDX file, plain or gzip, of images and of labels.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "sim/run/input/byte_stream.h"
#include "sim/run/input/formats.h"

using namespace systole::input;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        ByteStream stream({data, size}, "fuzz");
        const Images images = read_idx_images(stream);
        if (images.size() != images.pixels()->size()) std::abort();
    } catch (const InputError&) {
    }
    try {
        ByteStream stream({data, size}, "fuzz");
        if (read_idx_labels(stream).empty()) std::abort();
    } catch (const InputError&) {
    }
    return 0;
}
