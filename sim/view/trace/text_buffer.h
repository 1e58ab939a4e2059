#pragma once

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string_view>
#include <vector>

#include "sim/view/trace/output_file.h"

namespace systole::trace {

/// Collects text for a file in pieces so large that writing them costs little. It is made for many small
/// parts: a trace has hundreds of bytes for each instruction.
class TextBuffer {
public:
    explicit TextBuffer(OutputFile& file) : file_(file), text_(2 * piece_bytes) {}

    /// For literals, whose length the compiler knows, so that copying takes a few instructions.
    template <std::size_t size>
    TextBuffer& operator<<(const char (&literal)[size]) {
        constexpr std::size_t length = size - 1;  // without the final zero
        std::memcpy(room_for(length), literal, length);
        size_ += length;
        return *this;
    }
    TextBuffer& operator<<(std::string_view text) {
        std::memcpy(room_for(text.size()), text.data(), text.size());
        size_ += text.size();
        return *this;
    }
    TextBuffer& operator<<(char letter) {
        *room_for(1) = letter;
        ++size_;
        return *this;
    }
    template <std::integral Number>
    TextBuffer& operator<<(Number number) {
        constexpr std::size_t longest = std::numeric_limits<Number>::digits10 + 2;  // one more digit, a sign
        char* const begin = room_for(longest);
        size_ += static_cast<std::size_t>(std::to_chars(begin, begin + longest, number).ptr - begin);
        return *this;
    }

    /// Marks a position at which the text may be split into pieces.
    void end_line() {
        if (size_ >= piece_bytes) flush();
    }
    void flush() {
        file_.write({text_.data(), size_});
        size_ = 0;
    }

private:
    static constexpr std::size_t piece_bytes = std::size_t{1} << 17U;

    char* room_for(std::size_t bytes) {
        if (text_.size() - size_ < bytes) [[unlikely]]
            text_.resize(std::max(2 * text_.size(), size_ + bytes));
        return text_.data() + size_;
    }

    OutputFile& file_;
    std::vector<char> text_;
    std::size_t size_ = 0;
};

}  // namespace systole::trace
