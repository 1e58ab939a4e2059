#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>

namespace systole::functional {

/// A block of parameters on its way to the tiles.
struct Block {
    bool streamed = false;      ///< it comes from host memory, else from wide memory
    std::uint64_t address = 0;  ///< a byte of host memory, or a unit of wide memory
    std::uint64_t rows = 0;
    std::uint64_t units = 0;  ///< of a row

    bool operator==(const Block&) const = default;
};

/// Blocks that have been sent and not yet taken, in order.
class BlockQueue {
public:
    /// Sends all groups, which lie one after the other from `first` on, `repeats` times; neither number is 0.
    void send(const Block& first, std::uint64_t groups, std::uint64_t repeats);

    /// Takes the next block, if there is one.
    std::optional<Block> take();

    /// Takes the next block. Throws ProgramError if it is not the one that is needed: `where` and `taker` are
    /// words of the message, as "on the ring" and "the product".
    void take(const Block& needed, std::string_view where, std::string_view taker);

private:
    struct Sent {
        Block first;
        std::uint64_t groups = 0;
        std::uint64_t repeats = 0;  ///< left, with the one under way
        std::uint64_t group = 0;    ///< the next
    };

    std::deque<Sent> sent_;
};

}  // namespace systole::functional
