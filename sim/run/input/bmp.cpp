// BMP files as Windows writes them: a file header of 14 bytes, an information header, a palette, rows of
// pixels that are padded to 4 bytes, the lowest row first unless the height is negative.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "sim/run/input/formats.h"
#include "sim/run/input/images.h"

namespace systole::input {
namespace {

constexpr std::size_t file_header_bytes = 14;
constexpr std::uint32_t core_header_bytes = 12;         ///< OS/2's, with sizes of 16 bits
constexpr std::uint32_t information_header_bytes = 40;  ///< newer ones begin with it
constexpr std::uint32_t most_header_bytes = 124;

using Color = std::array<std::uint8_t, 3>;  ///< red, green, blue

class BmpReader {
public:
    BmpReader(std::span<const std::uint8_t> bytes, std::string_view file) : bytes_(bytes), file_(file) {}

    Images read(const SizeCheck& check_size) {
        read_header();
        if (bits_ <= 8) read_palette();
        const bool is_gray = !palette_.empty() && std::ranges::all_of(palette_, [](const Color& color) {
            return color[0] == color[1] && color[0] == color[2];
        });
        Images image{
            .count = 1, .height = height_, .width = width_, .channels = is_gray ? 1U : 3U, .values = {}};
        const std::uint64_t size = checked_size(image, 1, file_);
        const std::uint64_t row_bytes = (std::uint64_t{width_} * bits_ + 31) / 32 * 4;
        if (first_row_ > bytes_.size() || row_bytes * height_ > bytes_.size() - first_row_) {
            fail(fmt::format("its {} bytes cannot hold {}x{} pixels of {} bits", bytes_.size(), height_,
                             width_, bits_));
        }
        if (check_size) check_size(image, file_);
        std::vector<std::uint8_t> pixels;
        pixels.reserve(size);
        for (std::uint32_t row = 0; row < height_; ++row) {
            const std::uint64_t stored = is_top_down_ ? row : height_ - 1 - row;
            add_row(bytes_.subspan(first_row_ + stored * row_bytes, row_bytes), is_gray, pixels);
        }
        image.values = std::move(pixels);
        return image;
    }

private:
    void read_header() {
        first_row_ = number(10, 4);
        header_ = static_cast<std::uint32_t>(number(14, 4));
        if (header_ == core_header_bytes) {
            width_ = static_cast<std::uint32_t>(number(18, 2));
            height_ = static_cast<std::uint32_t>(number(20, 2));
            bits_ = static_cast<std::uint32_t>(number(24, 2));
        } else if (header_ >= information_header_bytes && header_ <= most_header_bytes) {
            const auto height = static_cast<std::int32_t>(number(22, 4));
            is_top_down_ = height < 0;
            width_ = static_cast<std::uint32_t>(number(18, 4));
            height_ =
                is_top_down_ ? ~static_cast<std::uint32_t>(height) + 1 : static_cast<std::uint32_t>(height);
            bits_ = static_cast<std::uint32_t>(number(28, 2));
            check_compression();
            colors_ = number(46, 4);
        } else {
            fail(fmt::format("its header has {} bytes; headers of {}, and of {} to {}, are read", header_,
                             core_header_bytes, information_header_bytes, most_header_bytes));
        }
        if (width_ > max_side) fail(fmt::format("its width is {}; at most {}", width_, max_side));
        if (bits_ != 1 && bits_ != 4 && bits_ != 8 && bits_ != 24 && bits_ != 32) {
            fail(fmt::format("it has {} bits a pixel; 1, 4, 8, 24 and 32 are read", bits_));
        }
    }

    void check_compression() const {
        constexpr std::uint64_t none = 0;
        constexpr std::uint64_t bit_fields = 3;
        const std::uint64_t compression = number(30, 4);
        if (compression == none) return;
        if (compression != bit_fields || bits_ != 32) {
            fail(fmt::format("its compression is {}; only files that are not compressed are read",
                             compression));
        }
        constexpr std::array<std::uint64_t, 3> usual{0xff0000, 0xff00, 0xff};
        for (std::size_t i = 0; i < usual.size(); ++i) {
            if (number(54 + 4 * i, 4) != usual.at(i)) fail("its colours are not bytes in the usual order");
        }
    }

    void read_palette() {
        const std::uint64_t entry_bytes = header_ == core_header_bytes ? 3 : 4;
        const std::uint64_t most = std::uint64_t{1} << bits_;
        const std::uint64_t entries = colors_ == 0 ? most : colors_;
        if (entries > most) fail(fmt::format("its palette has {} colours; at most {}", entries, most));
        for (std::uint64_t i = 0; i < entries; ++i) {
            const std::uint64_t place = file_header_bytes + header_ + i * entry_bytes;
            palette_.push_back({byte(place + 2), byte(place + 1), byte(place)});
        }
    }

    void add_row(std::span<const std::uint8_t> row, bool is_gray, std::vector<std::uint8_t>& pixels) const {
        for (std::uint32_t column = 0; column < width_; ++column) {
            if (bits_ > 8) {
                const std::size_t place = std::size_t{column} * bits_ / 8;
                for (const std::size_t color : {2U, 1U, 0U}) pixels.push_back(row[place + color]);
                continue;
            }
            const std::uint32_t bit = column * bits_;
            const std::uint32_t index =
                (row[bit / 8] >> (8 - bits_ - bit % 8)) & ((1U << bits_) - 1);  // the first pixel is highest
            if (index >= palette_.size()) {
                fail(fmt::format("a pixel has colour {}; its palette has {}", index, palette_.size()));
            }
            if (is_gray) {
                pixels.push_back(palette_[index][0]);
            } else {
                pixels.insert(pixels.end(), palette_[index].begin(), palette_[index].end());
            }
        }
    }

    std::uint8_t byte(std::uint64_t place) const {
        if (place >= bytes_.size()) fail("the file ends within the BMP header");
        return bytes_[place];
    }

    std::uint64_t number(std::uint64_t place, std::uint64_t width) const {
        std::uint64_t value = 0;
        for (std::uint64_t i = width; i-- > 0;) value = value << 8U | byte(place + i);
        return value;
    }

    [[noreturn]] void fail(std::string_view what) const {
        throw InputError(fmt::format("{}: {}", file_, what));
    }

    static constexpr std::uint32_t max_side = 1U << 26U;  // so that the bits of a row fit in 32 bits

    std::span<const std::uint8_t> bytes_;
    std::string_view file_;
    std::uint64_t first_row_ = 0;
    std::uint32_t header_ = 0;  ///< bytes of the information header
    std::uint32_t width_ = 0;
    std::uint32_t height_ = 0;
    bool is_top_down_ = false;
    std::uint32_t bits_ = 0;    ///< a pixel
    std::uint64_t colors_ = 0;  ///< in the palette; 0: as many as the bits can tell
    std::vector<Color> palette_;
};

}  // namespace

bool is_bmp(std::span<const std::uint8_t> bytes) {
    return bytes.size() >= 2 && bytes[0] == 'B' && bytes[1] == 'M';
}

Images read_bmp(std::span<const std::uint8_t> bytes, std::string_view file, const SizeCheck& check_size) {
    return BmpReader(bytes, file).read(check_size);
}

}  // namespace systole::input
