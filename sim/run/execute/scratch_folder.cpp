#include "sim/run/execute/scratch_folder.h"

#include <stdlib.h>

#include <cerrno>
#include <fstream>
#include <system_error>

namespace systole::run {

ScratchFolder::ScratchFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "systole_XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
        throw std::system_error(errno, std::generic_category(), pattern);
    }
    path_ = pattern;
    removed_.emplace([this] { remove(); });
}

ScratchFolder::~ScratchFolder() {
    remove();
}

void ScratchFolder::remove() const {
    std::error_code ignored;  // files that remain do no harm
    std::filesystem::remove_all(path_, ignored);
}

Content ScratchFolder::add(const std::string& name, std::string_view text) const {
    const std::filesystem::path folder = path_ / hash_of(text);
    std::filesystem::create_directories(folder);
    std::ofstream file(folder / name, std::ios::binary);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    file.close();
    if (!file) throw std::system_error(errno, std::generic_category(), (folder / name).string());
    return content_of(folder / name);
}

}  // namespace systole::run
