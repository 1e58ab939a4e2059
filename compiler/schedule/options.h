#pragma once

#include <cstdint>

namespace systole::schedule {

/// What the program is asked to do. Both at least 1.
struct Options {
    std::uint32_t batch = 1;       ///< images that go through the network together
    std::uint64_t inferences = 1;  ///< images in all; the last batch may have fewer

    bool operator==(const Options&) const = default;
};

}  // namespace systole::schedule
