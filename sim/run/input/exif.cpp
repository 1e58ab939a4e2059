// The orientation of a picture in EXIF data (CIPA DC-008, a TIFF 6.0 file): the first directory's tag 0x0112.
#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/run/input/formats.h"

namespace systole::input {
namespace {

constexpr std::size_t entry_bytes = 12;
constexpr std::size_t value_in_entry = 8;
constexpr std::uint64_t orientation_tag = 0x0112;
constexpr std::uint64_t upright = 1;
constexpr std::uint64_t last_orientation = 8;

/// Whole numbers in the byte order of a TIFF file; 0 beyond its end.
class TiffNumbers {
public:
    explicit TiffNumbers(std::span<const std::uint8_t> bytes)
        : bytes_(bytes), is_big_endian_(!bytes.empty() && bytes.front() == 'M') {}

    std::uint64_t at(std::uint64_t place, std::size_t width) const {
        if (place + width > bytes_.size()) return 0;
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < width; ++i) {
            value = value << 8U | bytes_[place + (is_big_endian_ ? i : width - 1 - i)];
        }
        return value;
    }

private:
    std::span<const std::uint8_t> bytes_;
    bool is_big_endian_;
};

}  // namespace

bool is_turned(std::span<const std::uint8_t> exif) {
    const TiffNumbers numbers(exif);
    const std::uint64_t directory = numbers.at(4, 4);
    const std::uint64_t entries = numbers.at(directory, 2);
    for (std::uint64_t i = 0; i < entries; ++i) {
        const std::uint64_t entry = directory + 2 + i * entry_bytes;
        if (entry + entry_bytes > exif.size()) return false;
        if (numbers.at(entry, 2) != orientation_tag) continue;
        const std::uint64_t orientation = numbers.at(entry + value_in_entry, 2);
        return orientation > upright && orientation <= last_orientation;
    }
    return false;
}

}  // namespace systole::input
