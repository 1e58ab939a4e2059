#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/whole_file.h"
#include "sim/view/trace/worker.h"

struct isal_zstream;

namespace systole::trace {

/// A file that is written from front to back, and has its name when it is closed. All functions throw
/// OutputError, "file: cannot be written: why".
class OutputFile {
public:
    explicit OutputFile(std::filesystem::path path);
    virtual ~OutputFile() = default;
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    virtual void write(std::string_view bytes) { put(bytes); }
    /// Completes the file and gives it its name: no call may follow.
    virtual void close();

protected:
    void put(std::string_view bytes) { file_.write(bytes); }

private:
    WholeFile file_;
};

/// Compresses the file as gzip (RFC 1952) in its own thread: an error may be thrown by a later call than the
/// one that caused it, and by `close` at the latest.
class GzipFile final : public OutputFile {
public:
    explicit GzipFile(std::filesystem::path path);
    ~GzipFile() override;

    void write(std::string_view bytes) override;
    void close() override;

private:
    void deflate(std::string_view bytes, bool is_last);

    std::unique_ptr<isal_zstream> stream_;
    std::vector<std::uint8_t> memory_;  ///< the compressor's
    std::vector<std::uint8_t> compressed_;
    std::vector<char> piece_;  ///< filled by the next `write`
    Worker<std::vector<char>> worker_;
};

}  // namespace systole::trace
