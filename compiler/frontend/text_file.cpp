#include "compiler/frontend/text_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>

#include "compiler/ir/model_error.h"

namespace systole::frontend {

std::string read_text(const std::filesystem::path& path) {
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        throw ModelError(fmt::format("{}: it cannot be opened: {}", path.string(),
                                     std::generic_category().message(errno)));
    }
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace systole::frontend
