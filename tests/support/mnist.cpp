#include "tests/support/mnist.h"

#include <zlib.h>

#include <array>
#include <memory>
#include <stdexcept>

#include "tests/support/source_dir.h"

namespace systole::tests {
namespace {

std::vector<std::uint8_t> read_gzip(const std::string& path, std::size_t header_bytes) {
    const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
    if (file == nullptr) return {};
    std::vector<std::uint8_t> bytes;
    std::array<std::uint8_t, 65536> piece{};
    for (int count = 0; (count = gzread(file.get(), piece.data(), piece.size())) > 0;) {
        bytes.insert(bytes.end(), piece.begin(), piece.begin() + count);
    }
    if (bytes.size() < header_bytes) throw std::runtime_error(path + " is too short");
    bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(header_bytes));
    return bytes;
}

}  // namespace

std::vector<float> Mnist::floats(std::uint32_t number) const {
    constexpr float white = 255.0F;
    std::vector<float> values(std::size_t{number} * pixels);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(images[i]) / white;
    return values;
}

std::string shared_data(const std::string& name) {
    return std::string(source_dir()) + "/../shared/data/" + name;
}

std::optional<Mnist> read_mnist() {
    constexpr std::size_t image_header = 16;
    constexpr std::size_t label_header = 8;
    Mnist mnist;
    mnist.images = read_gzip(shared_data("mnist/t10k-images-idx3-ubyte.gz"), image_header);
    mnist.labels = read_gzip(shared_data("mnist/t10k-labels-idx1-ubyte.gz"), label_header);
    if (mnist.images.empty() || mnist.labels.empty()) return std::nullopt;
    mnist.count = static_cast<std::uint32_t>(mnist.labels.size());
    return mnist;
}

}  // namespace systole::tests
