#include <bit>
#include <charconv>
#include <limits>
#include <optional>

#include "sim/run/input/formats.h"

namespace systole::input {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
/// The limit of NumPy's own reader; a header of images or labels has about 60 characters.
constexpr std::uint32_t max_header_bytes = 65536;

/// The header's text: a Python dictionary of exactly the keys 'descr', 'fortran_order' and 'shape'.
class HeaderParser {
public:
    HeaderParser(std::string_view text, const std::string& file) : text_(text), file_(file) {}

    NpyHeader parse() {
        expect('{');
        while (!accept('}')) {
            const std::string_view key = string();
            expect(':');
            value_of(key);
            if (!accept(',')) {
                expect('}');
                break;
            }
        }
        skip_space();
        if (position_ != text_.size()) fail("text follows the dictionary");
        if (!descr_ || !is_column_major_ || !shape_) fail("'descr', 'fortran_order' or 'shape' is missing");
        return {.descr = *descr_, .shape = *shape_, .is_column_major = *is_column_major_};
    }

private:
    void value_of(std::string_view key) {
        if (key == "descr" && !descr_) {
            descr_ = string();
        } else if (key == "fortran_order" && !is_column_major_) {
            is_column_major_ = truth();
        } else if (key == "shape" && !shape_) {
            shape_ = shape();
        } else {
            fail("a key is unknown or there twice");
        }
    }

    std::string_view string() {
        skip_space();
        const char quote = peek();
        if (quote != '\'' && quote != '"') fail("a string is expected");
        const std::size_t end = text_.find(quote, position_ + 1);
        if (end == std::string_view::npos) fail("a string does not end");
        const std::string_view content = text_.substr(position_ + 1, end - position_ - 1);
        // Error messages print the string, so only plain text is allowed.
        for (const char c : content) {
            if (c < ' ' || c > '~' || c == '\\') fail("a string holds a character that is not plain text");
        }
        position_ = end + 1;
        return content;
    }

    bool truth() {
        skip_space();
        if (accept_word("False")) return false;
        if (accept_word("True")) return true;
        fail("fortran_order is neither True nor False");
    }

    std::vector<std::uint32_t> shape() {
        std::vector<std::uint32_t> extents;
        expect('(');
        while (!accept(')')) {
            extents.push_back(extent());
            if (!accept(',')) {
                expect(')');
                break;
            }
        }
        return extents;
    }

    std::uint32_t extent() {
        skip_space();
        std::uint32_t value = 0;
        const char* begin = text_.data() + position_;
        const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
        if (error == std::errc::result_out_of_range) {
            throw InputError(fmt::format("{}: a dimension of the shape is {}; it must be at most {}", file_,
                                         std::string_view(begin, end),
                                         std::numeric_limits<std::uint32_t>::max()));
        }
        if (error != std::errc()) fail("a dimension of the shape is not a whole number");
        position_ += static_cast<std::size_t>(end - begin);
        return value;
    }

    char peek() const { return position_ < text_.size() ? text_[position_] : '\0'; }

    void skip_space() {
        while (peek() == ' ' || peek() == '\n') ++position_;
    }

    bool accept(char c) {
        skip_space();
        if (peek() != c) return false;
        ++position_;
        return true;
    }

    bool accept_word(std::string_view word) {
        if (!text_.substr(position_).starts_with(word)) return false;
        position_ += word.size();
        return true;
    }

    void expect(char c) {
        if (!accept(c)) fail(fmt::format("'{}' is expected", c));
    }

    [[noreturn]] void fail(std::string_view what) const {
        throw InputError(fmt::format("{}: NPY header, character {}: {}", file_, position_, what));
    }

    std::string_view text_;
    const std::string& file_;
    std::size_t position_ = 0;
    std::optional<std::string> descr_;
    std::optional<std::vector<std::uint32_t>> shape_;
    std::optional<bool> is_column_major_;
};

std::uint32_t read_header_size(ByteStream& stream, std::size_t width) {
    std::array<std::uint8_t, 4> bytes{};
    stream.read_exactly(std::span(bytes).first(width), "NPY header");
    std::uint32_t size = 0;
    for (std::size_t i = width; i-- > 0;) size = size << 8U | bytes.at(i);
    return size;
}

}  // namespace

bool is_npy(ByteStream& stream) {
    return stream.starts_with(magic);
}

NpyHeader read_npy_header(ByteStream& stream) {
    if (!is_npy(stream))
        throw InputError(fmt::format("{}: does not begin as an NPY file does", stream.file()));
    std::array<std::uint8_t, magic.size()> skipped{};
    stream.read_exactly(skipped, "NPY header");
    std::array<std::uint8_t, 2> version{};
    stream.read_exactly(version, "NPY header");
    if ((version[0] != 1 && version[0] != 2) || version[1] != 0) {
        throw InputError(fmt::format("{}: NPY version is {}.{}; 1.0 and 2.0 are read", stream.file(),
                                     version[0], version[1]));
    }
    const std::uint32_t size = read_header_size(stream, version[0] == 1 ? 2 : 4);
    if (size > max_header_bytes) {
        throw InputError(fmt::format("{}: NPY header takes {} bytes; the limit is {}", stream.file(), size,
                                     max_header_bytes));
    }
    const std::vector<char> text = stream.read_values<char>(size, "NPY header");
    NpyHeader header = HeaderParser({text.data(), text.size()}, stream.file()).parse();
    if (header.descr.starts_with('>')) {
        header.descr.front() = '<';
        stream.set_byte_order(std::endian::big);
    }
    return header;
}

}  // namespace systole::input
