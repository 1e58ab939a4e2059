#include "sim/run/record/content.h"

#include <openssl/evp.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <system_error>

#include "base/input_file.h"

namespace systole::run {
namespace {

namespace fs = std::filesystem;

class Hash {
public:
    Hash() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
        check(context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
    }
    void add(std::string_view bytes) {
        check(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
    }
    std::string text() {
        std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
        unsigned size = 0;
        check(EVP_DigestFinal_ex(context_.get(), digest.data(), &size) == 1);
        constexpr std::string_view digits = "0123456789abcdef";
        std::string text;
        for (unsigned i = 0; i < size; ++i) {
            text += digits[digest[i] >> 4U];
            text += digits[digest[i] & 15U];
        }
        return text;
    }

private:
    static void check(bool done) {
        if (!done) throw std::logic_error("libcrypto cannot hash");
    }
    std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

std::optional<std::string> read_and_hash(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    Hash hash;
    std::vector<char> piece(std::size_t{1} << 20U);
    while (file) {
        file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
        hash.add({piece.data(), static_cast<std::size_t>(file.gcount())});
    }
    if (file.bad()) return std::nullopt;
    return hash.text();
}

/// What changes when a file's bytes do, if the last change was some time ago.
struct FileState {
    dev_t device = 0;
    ino_t number = 0;
    off_t bytes = 0;
    std::array<std::int64_t, 2> changed{};  ///< seconds and nanoseconds

    auto operator<=>(const FileState&) const = default;
};

/// The state of a file that was last changed more than two seconds ago. Of others there is none, because file
/// systems count time in steps, and a second change in the same step would not be seen.
std::optional<FileState> settled_state(const fs::path& path) {
    struct stat state {};
    if (::stat(path.c_str(), &state) != 0) return std::nullopt;
    constexpr std::time_t settled_after = 2;
    if (std::time(nullptr) - state.st_ctim.tv_sec <= settled_after) return std::nullopt;
    return FileState{.device = state.st_dev,
                     .number = state.st_ino,
                     .bytes = state.st_size,
                     .changed = {state.st_ctim.tv_sec, state.st_ctim.tv_nsec}};
}

/// The hash of a file's bytes. A file that is named by many runs of this process is read once.
std::optional<std::string> hash_of_file(const fs::path& path) {
    if (input_fault(path)) return std::nullopt;
    static std::map<FileState, std::string> known;
    static std::mutex mutex;
    const std::optional<FileState> state = settled_state(path);
    const std::lock_guard lock(mutex);
    if (state) {
        if (const auto found = known.find(*state); found != known.end()) return found->second;
    }
    std::optional<std::string> hash = read_and_hash(path);
    if (state && hash && settled_state(path) == state) known.emplace(*state, *hash);
    return hash;
}

void add_file(Hash& hash, const std::string& name, const fs::path& file) {
    hash.add(name);
    hash.add(std::string_view("\0", 1));
    hash.add(hash_of_file(file).value_or(""));
    hash.add("\n");
}

std::optional<std::string> hash_of_folder(const fs::path& folder) {
    std::error_code error;
    std::vector<fs::path> files;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        files.push_back(entry->path());
    }
    if (error) return std::nullopt;
    std::sort(files.begin(), files.end());
    Hash hash;
    for (const fs::path& file : files) add_file(hash, file.filename().string(), file);
    return hash.text();
}

}  // namespace

std::string hash_of(std::string_view bytes) {
    Hash hash;
    hash.add(bytes);
    return hash.text();
}

Content content_of(const fs::path& path) {
    std::error_code ignored;
    const auto hash = fs::is_directory(path, ignored) ? hash_of_folder(path) : hash_of_file(path);
    return {.name = path.filename().string(), .hash = hash.value_or(""), .path = {path.string()}};
}

Content content_of(const fs::path& path, const std::vector<fs::path>& further) {
    Content content = content_of(path);
    if (further.empty() || content.hash.empty()) return content;
    Hash hash;
    hash.add(content.hash);
    hash.add("\n");
    for (const fs::path& file : further) add_file(hash, file.string(), path.parent_path() / file);
    content.hash = hash.text();
    return content;
}

}  // namespace systole::run
