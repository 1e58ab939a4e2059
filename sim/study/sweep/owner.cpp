#include "sim/study/sweep/owner.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>

namespace systole::sweep {
namespace {

std::string first_line(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

/// Field 22 of /proc/PROCESS/stat, proc(5); 0 if there is no such process, or a dead one that no one waited
/// for.
std::int64_t begin_of(std::int64_t process) {
    const std::string line = first_line(fmt::format("/proc/{}/stat", process));
    const std::size_t name_end = line.rfind(')');  // the name may have blanks
    if (name_end == std::string::npos) return 0;
    std::istringstream fields(line.substr(name_end + 1));
    std::string field;
    constexpr int state_field = 3;
    constexpr int begin_field = 22;
    for (int number = state_field; number <= begin_field; ++number) {
        fields >> field;
        if (number == state_field && (field == "Z" || field == "X")) return 0;
    }
    return std::stoll(field);
}

std::string this_boot() {
    std::error_code error;
    const auto space = std::filesystem::read_symlink("/proc/self/ns/pid", error);
    return first_line("/proc/sys/kernel/random/boot_id") + " " + space.string();
}

}  // namespace

Owner this_process() {
    std::array<char, 256> host{};
    ::gethostname(host.data(), host.size() - 1);
    const std::int64_t process = ::getpid();
    return {.host = host.data(), .boot = this_boot(), .process = process, .begin = begin_of(process)};
}

bool is_visible(const Owner& owner) {
    return owner.boot == this_boot();
}

bool is_alive(const Owner& owner) {
    return is_visible(owner) && begin_of(owner.process) == owner.begin && owner.begin != 0;
}

}  // namespace systole::sweep
