// Networks of other people (../shared/data), against the interpreters of TensorFlow 2.19.1 and 2.21.0 with
// their reference kernels: the hash of the output's bytes. The inputs are those beside the files, or a
// pattern of bytes.
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "compiler/frontend/tflite.h"
#include "compiler/operators/operator.h"
#include "compiler/reference/executor.h"
#include "tests/support/source_dir.h"

using namespace systole;
using Bytes = std::vector<std::uint8_t>;

namespace {

struct SharedNetwork {
    std::string file;
    std::uint64_t output_hash = 0;           ///< FNV-1a of 64 bits, of 2.21
    std::uint64_t older_hash = output_hash;  ///< of 2.19
};

Bytes file_bytes(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// The array of an NPY file of version 1, without its header.
Bytes npy_bytes(const std::filesystem::path& path) {
    constexpr std::size_t length_place = 8;
    const Bytes file = file_bytes(path);
    REQUIRE(file.size() > length_place + 2);
    const std::size_t header = file[length_place] + 256U * file[length_place + 1];
    return {file.begin() + static_cast<std::ptrdiff_t>(length_place + 2 + header), file.end()};
}

Bytes byte_pattern(std::size_t size) {
    Bytes bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(i * 7919 + (i >> 8U) * 31);
    return bytes;
}

std::uint64_t fnv_hash(const Bytes& bytes) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const std::uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3;
    return hash;
}

}  // namespace

TEST_CASE("Networks of other people give the interpreter's bits", "[compiler][frontend][tflite][shared]") {
    const std::filesystem::path data = std::filesystem::path(tests::source_dir()) / "../shared/data";
    if (!std::filesystem::exists(data)) {
        WARN("SKIPPED: " << data << " is not there");
        return;
    }
    const std::vector<SharedNetwork> networks{
        {"tflite/mcunetv2_vww", 0x6bf0d8a881992bdd},
        {"tflite/mlperf_ad01_int8", 0x52d0ce3a936af93b, 0x676870e238b3305c},
        {"tflite/mlperf_kws_int8", 0x70955eff499c9253},
        {"tflite/stm_resnet8_32_cifar10_int8", 0x44f109eb890e8186},
        {"tflite/stm_yolo_lc_192_person_int8", 0x1e2c5d48e98b0879},
        {"coral/mobilenet_v1_0.25_128_quant", 0x4360e3d3ce625028},
        {"coral/mobilenet_v2_1.0_224_quant", 0x59af07c04539bdc6}};
    for (const SharedNetwork& network : networks) {
        INFO(network.file);
        const std::filesystem::path file = data / (network.file + ".tflite");
        const ir::Graph graph = frontend::read_tflite(file, operators::registry());
        const std::filesystem::path beside = data / (network.file + ".input.npy");
        const ir::Value& input = graph.input();
        const std::size_t bytes = input.shape.elements() * bytes_of(input.type);
        const Bytes array = std::filesystem::exists(beside) ? npy_bytes(beside) : byte_pattern(bytes);
        REQUIRE(array.size() == bytes);
        const std::span<const std::uint8_t> view = array;
        CHECK(fnv_hash(reference::run(graph, {&view, 1}, 1).front()) == network.output_hash);
        if (network.older_hash == network.output_hash) continue;
        const ir::Graph older =
            frontend::read_tflite(file, operators::registry(), {.runtime = frontend::TfliteRuntime::V2_19});
        CHECK(fnv_hash(reference::run(older, {&view, 1}, 1).front()) == network.older_hash);
    }
}
