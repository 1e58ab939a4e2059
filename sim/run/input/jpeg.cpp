#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// After <cstdio>, which it needs.
#include <jerror.h>
#include <jpeglib.h>

#include "sim/run/input/formats.h"
#include "sim/run/input/images.h"

namespace systole::input {
namespace {

/// A block of 8 x 8 pixels takes at least a bit of the file.
constexpr std::uint64_t most_pixels_per_byte = 512;
/// Each scan of a progressive file goes over the whole image. Encoders make about ten.
constexpr int most_scans = 100;
constexpr int exif_marker = JPEG_APP0 + 1;
constexpr unsigned most_marker_bytes = 0xffff;

/// libjpeg's reader over bytes in memory.
///
/// libjpeg reports errors with longjmp, which must not skip a destructor. So the functions that call setjmp
/// only call libjpeg, have no objects, and return false after an error.
class JpegDecoder {
public:
    explicit JpegDecoder(std::span<const std::uint8_t> bytes) : bytes_(bytes) {
        jpeg_.err = jpeg_std_error(&errors_);
        jpeg_.client_data = this;
        errors_.error_exit = on_error;
        errors_.emit_message = on_message;
        errors_.output_message = [](j_common_ptr) {};
        progress_.progress_monitor = on_progress;
    }
    ~JpegDecoder() { jpeg_destroy_decompress(&jpeg_); }
    JpegDecoder(const JpegDecoder&) = delete;
    JpegDecoder& operator=(const JpegDecoder&) = delete;

    /// Reads up to the first row and asks for gray or RGB.
    bool read_info() {
        if (setjmp(on_failure_) != 0) return false;
        jpeg_create_decompress(&jpeg_);
        jpeg_.progress = &progress_;
        jpeg_mem_src(&jpeg_, bytes_.data(), static_cast<unsigned long>(bytes_.size()));
        jpeg_save_markers(&jpeg_, exif_marker, most_marker_bytes);
        jpeg_read_header(&jpeg_, TRUE);
        if (jpeg_.jpeg_color_space == JCS_GRAYSCALE) {
            jpeg_.out_color_space = JCS_GRAYSCALE;
        } else if (jpeg_.jpeg_color_space == JCS_YCbCr || jpeg_.jpeg_color_space == JCS_RGB) {
            jpeg_.out_color_space = JCS_RGB;
        } else {
            is_other_color_ = true;
        }
        return true;
    }

    /// Reads all rows into `pixels`, and everything after them.
    bool read_rows(std::uint8_t* pixels) {
        if (setjmp(on_failure_) != 0) return false;
        jpeg_start_decompress(&jpeg_);
        const std::size_t row_bytes = std::size_t{jpeg_.output_width} * channels();
        while (jpeg_.output_scanline < jpeg_.output_height) {
            JSAMPROW row = pixels + jpeg_.output_scanline * row_bytes;
            jpeg_read_scanlines(&jpeg_, &row, 1);
        }
        jpeg_finish_decompress(&jpeg_);
        return true;
    }

    std::uint32_t width() const { return jpeg_.image_width; }
    std::uint32_t height() const { return jpeg_.image_height; }
    std::uint32_t channels() const { return jpeg_.out_color_space == JCS_GRAYSCALE ? 1 : 3; }
    bool is_other_color() const { return is_other_color_; }
    int components() const { return jpeg_.num_components; }
    /// EXIF data; empty without.
    std::span<const std::uint8_t> exif() const {
        using namespace std::string_view_literals;
        constexpr std::string_view name = "Exif\0\0"sv;
        for (const jpeg_marker_struct* marker = jpeg_.marker_list; marker != nullptr; marker = marker->next) {
            const std::span<const std::uint8_t> data(marker->data, marker->data_length);
            if (data.size() >= name.size() && std::equal(name.begin(), name.end(), data.begin())) {
                return data.subspan(name.size());
            }
        }
        return {};
    }
    /// libjpeg's message after a function has returned false.
    std::string message() const { return message_.data(); }

private:
    static JpegDecoder& self(j_common_ptr jpeg) { return *static_cast<JpegDecoder*>(jpeg->client_data); }

    [[noreturn]] static void on_error(j_common_ptr jpeg) {
        JpegDecoder& decoder = self(jpeg);
        jpeg->err->format_message(jpeg, decoder.message_.data());
        std::longjmp(decoder.on_failure_, 1);
    }

    /// Warnings are about damaged data, besides some that change no pixel. `level` is -1 for them.
    static void on_message(j_common_ptr jpeg, int level) {
        if (level >= 0) return;
        switch (jpeg->err->msg_code) {
            case JWRN_ADOBE_XFORM:
            case JWRN_EXTRANEOUS_DATA:
            case JWRN_JFIF_MAJOR:
            case JWRN_TOO_MUCH_DATA:
                return;
            default:
                on_error(jpeg);
        }
    }

    static void on_progress(j_common_ptr jpeg) {
        const auto* const decompress = reinterpret_cast<const jpeg_decompress_struct*>(jpeg);
        if (decompress->input_scan_number <= most_scans) return;
        JpegDecoder& decoder = self(jpeg);
        std::snprintf(decoder.message_.data(), decoder.message_.size(), "it has more than %d scans",
                      most_scans);
        std::longjmp(decoder.on_failure_, 1);
    }

    std::span<const std::uint8_t> bytes_;
    jpeg_decompress_struct jpeg_{};
    jpeg_error_mgr errors_{};
    jpeg_progress_mgr progress_{};
    std::jmp_buf on_failure_{};
    bool is_other_color_ = false;
    std::array<char, JMSG_LENGTH_MAX> message_{};
};

}  // namespace

bool is_jpeg(std::span<const std::uint8_t> bytes) {
    return bytes.size() >= 3 && bytes[0] == 0xff && bytes[1] == 0xd8 && bytes[2] == 0xff;
}

Images read_jpeg(std::span<const std::uint8_t> bytes, std::string_view file, const SizeCheck& check_size) {
    JpegDecoder decoder(bytes);
    if (!decoder.read_info()) throw InputError(fmt::format("{}: JPEG header: {}", file, decoder.message()));
    if (decoder.is_other_color()) {
        throw InputError(fmt::format("{}: the JPEG has {} colour components; gray and RGB are read", file,
                                     decoder.components()));
    }
    Images image{.count = 1,
                 .height = decoder.height(),
                 .width = decoder.width(),
                 .channels = decoder.channels(),
                 .values = {}};
    const std::uint64_t size = checked_size(image, 1, file);
    if (std::uint64_t{image.height} * image.width > most_pixels_per_byte * bytes.size()) {
        throw InputError(
            fmt::format("{}: JPEG header says {}x{} pixels; the file's {} bytes cannot hold them", file,
                        image.height, image.width, bytes.size()));
    }
    if (check_size) check_size(image, file);
    if (is_turned(decoder.exif())) image.turned = 1;
    std::vector<std::uint8_t> pixels(size);
    if (!decoder.read_rows(pixels.data())) {
        throw InputError(fmt::format("{}: JPEG image data: {}", file, decoder.message()));
    }
    image.values = std::move(pixels);
    return image;
}

}  // namespace systole::input
