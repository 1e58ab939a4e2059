// Any bytes are a program that can be written again as the same bytes, or a ProgramError.
#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "hw/isa/program_error.h"
#include "hw/isa/program_file.h"

namespace {

/// The input is the content: behind a header that fits it, which the fuzzer could not guess.
std::vector<std::uint8_t> sealed(const std::uint8_t* data, std::size_t size, std::uint8_t version) {
    std::vector<std::uint8_t> file = {0x89, 'T', 'P', 'U', '\r', '\n', 0x1a, '\n', version, 0, 0, 0};
    const auto append = [&](std::uint64_t value, unsigned bytes) {
        for (unsigned i = 0; i < bytes; ++i) file.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
    };
    append(crc32_z(0, data, size), 4);
    append(size, 8);
    file.insert(file.end(), data, data + size);
    return file;
}

void check(const std::vector<std::uint8_t>& file) {
    try {
        std::ostringstream again;
        systole::isa::write_program(systole::isa::read_program(file, "fuzz.tpu"), again);
        if (again.str() != std::string(file.begin(), file.end())) std::abort();
    } catch (const systole::isa::ProgramError&) {
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    check({data, data + size});
    namespace format = systole::isa::file_format;
    for (std::uint8_t version = format::version; version <= format::newest_version; ++version) {
        check(sealed(data, size, version));
    }
    return 0;
}
