#include "sim/view/trace/output_file.h"

#include <isa-l/igzip_lib.h>

#include <stdexcept>
#include <utility>

namespace systole::trace {

OutputFile::OutputFile(std::filesystem::path path) : file_(std::move(path)) {}

void OutputFile::close() {
    file_.commit();
}

namespace {

constexpr std::size_t compressed_bytes = std::size_t{1} << 18U;
constexpr std::uint32_t level = 1;       // higher levels take more time and make timelines no smaller
constexpr std::size_t most_pieces = 16;  // waiting pieces: 2 MB with the pieces of TextBuffer
constexpr std::size_t compressor_bytes = ISAL_DEF_LVL1_DEFAULT;

}  // namespace

GzipFile::GzipFile(std::filesystem::path path)
    : OutputFile(std::move(path)),
      stream_(std::make_unique<isal_zstream>()),
      memory_(compressor_bytes),
      compressed_(compressed_bytes),
      worker_(most_pieces, [this](std::vector<char>& piece) {
          deflate({piece.data(), piece.size()}, false);
      }) {
    isal_deflate_init(stream_.get());
    stream_->gzip_flag = IGZIP_GZIP;
    stream_->level = level;
    stream_->level_buf = memory_.data();
    stream_->level_buf_size = static_cast<std::uint32_t>(memory_.size());
}

GzipFile::~GzipFile() = default;

void GzipFile::write(std::string_view bytes) {
    piece_.assign(bytes.begin(), bytes.end());
    piece_ = worker_.pass_on(std::move(piece_));
}

void GzipFile::close() {
    worker_.finish();
    deflate({}, true);
    OutputFile::close();
}

void GzipFile::deflate(std::string_view bytes, bool is_last) {
    // The compressor only reads through the pointer.
    stream_->next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(bytes.data()));
    stream_->avail_in = static_cast<std::uint32_t>(bytes.size());
    stream_->end_of_stream = is_last ? 1 : 0;
    do {
        stream_->next_out = compressed_.data();
        stream_->avail_out = static_cast<std::uint32_t>(compressed_.size());
        if (isal_deflate(stream_.get()) != COMP_OK) throw std::logic_error("deflate rejected its parameters");
        const std::size_t made = compressed_.size() - stream_->avail_out;
        put({reinterpret_cast<const char*>(compressed_.data()), made});
    } while (stream_->avail_out == 0);
}

}  // namespace systole::trace
