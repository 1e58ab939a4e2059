#include "sim/run/input/formats.h"

namespace systole::input {
namespace {

constexpr std::uint8_t unsigned_byte = 0x08;

std::uint32_t read_extent(ByteStream& stream) {
    std::array<std::uint8_t, 4> bytes{};
    stream.read_exactly(bytes, "IDX header");
    std::uint32_t extent = 0;
    for (const std::uint8_t byte : bytes) extent = extent << 8U | byte;
    return extent;
}

/// Reads the magic number and returns the number of dimensions.
unsigned read_rank(ByteStream& stream) {
    std::array<std::uint8_t, 4> magic{};
    stream.read_exactly(magic, "IDX header");
    if (magic[0] != 0 || magic[1] != 0) {
        throw InputError(fmt::format("{}: magic number begins with 0x{:02x}{:02x}; an IDX file has 0x0000",
                                     stream.file(), magic[0], magic[1]));
    }
    if (magic[2] != unsigned_byte) {
        throw InputError(fmt::format("{}: IDX element type is 0x{:02x}; only 0x08 (unsigned byte) is read",
                                     stream.file(), magic[2]));
    }
    return magic[3];
}

}  // namespace

bool is_idx(ByteStream& stream) {
    using namespace std::string_view_literals;
    return stream.starts_with("\0\0"sv);
}

Images read_idx_images(ByteStream& stream, const SizeCheck& check_size) {
    const unsigned rank = read_rank(stream);
    if (rank != 3 && rank != 4) {
        throw InputError(
            fmt::format("{}: IDX data has {} dimensions; images have 3 (N, H, W) or 4 (N, H, W, C)",
                        stream.file(), rank));
    }
    Images images;
    images.count = read_extent(stream);
    images.height = read_extent(stream);
    images.width = read_extent(stream);
    images.channels = rank == 4 ? read_extent(stream) : 1;
    const std::uint64_t size = checked_size(images, 1, stream.file());
    if (check_size) check_size(images, stream.file());
    images.values = stream.read_values<std::uint8_t>(size, "IDX image data");
    stream.expect_end("last image");
    return images;
}

std::vector<std::uint32_t> read_idx_labels(ByteStream& stream) {
    const unsigned rank = read_rank(stream);
    if (rank != 1) {
        throw InputError(fmt::format("{}: IDX data has {} dimensions; labels have 1", stream.file(), rank));
    }
    const std::uint32_t count = read_extent(stream);
    if (count == 0)
        throw InputError(fmt::format("{}: label count is 0; it must be at least 1", stream.file()));
    const std::vector<std::uint8_t> bytes = stream.read_values<std::uint8_t>(count, "IDX label data");
    stream.expect_end("last label");
    return {bytes.begin(), bytes.end()};
}

}  // namespace systole::input
