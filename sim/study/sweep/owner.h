#pragma once

#include <cstdint>
#include <string>

namespace systole::sweep {

/// A process that runs points, so that another can tell whether it still lives.
struct Owner {
    std::string host;
    std::string boot;  ///< boot and process namespace: process numbers of another mean nothing here
    std::int64_t process = 0;
    std::int64_t begin = 0;  ///< when it began, in clock ticks since boot: numbers are used again

    bool operator==(const Owner&) const = default;
};

/// This process.
Owner this_process();

/// Whether the process lives and can be seen from here.
bool is_alive(const Owner& owner);

/// Whether it could be seen if it lived: same boot, same process namespace.
bool is_visible(const Owner& owner);

}  // namespace systole::sweep
