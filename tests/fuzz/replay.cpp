// Runs a fuzz entry point without libFuzzer: on each seed as it is, and on seeds damaged at random.
//
//   NAME_fuzz_replay SEED_DIRECTORY [RANDOM_SEED [INPUTS]]
//
// The same numbers give the same inputs: a crash is found again, in a debugger, by the printed line.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/random_runs.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Bytes = std::vector<std::uint8_t>;

std::vector<Bytes> read_seeds(const std::filesystem::path& directory) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());  // the order must not depend on the file system
    std::vector<Bytes> seeds;
    for (const std::filesystem::path& path : files) {
        std::ifstream file(path, std::ios::binary);
        seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    return seeds;
}

/// Damages inputs the way files are damaged, and the way hostile ones are made.
class Mutator {
public:
    Mutator(std::vector<Bytes> seeds, std::uint64_t random_seed)
        : seeds_(std::move(seeds)), random_(random_seed) {}

    Bytes next() {
        Bytes bytes = any_seed();
        const std::size_t steps = 1 + below(4);
        for (std::size_t i = 0; i < steps; ++i) mutate(bytes);
        return bytes;
    }

private:
    void mutate(Bytes& bytes) {
        if (bytes.empty()) {
            bytes = random_bytes(1 + below(64));
            return;
        }
        switch (below(8)) {
            case 0:
                bytes[below(bytes.size())] ^= static_cast<std::uint8_t>(1U << below(8));
                break;
            case 1:
                bytes[below(bytes.size())] = random_byte();
                break;
            case 2:
                bytes.resize(below(bytes.size() + 1));
                break;
            case 3:
                overwrite_with_extreme(bytes);
                break;
            case 4:
                erase(bytes);
                break;
            case 5:
                insert(bytes, random_bytes(1 + below(8)));
                break;
            case 6:
                insert(bytes, piece_of(bytes));
                break;
            default:
                insert(bytes, piece_of(any_seed()));
                break;
        }
    }

    /// Sizes and counts break at their ends: 0, all ones, the largest signed; in text, a long number.
    void overwrite_with_extreme(Bytes& bytes) {
        static const std::array<Bytes, 8> extremes{{{0, 0, 0, 0},
                                                    {0xff, 0xff, 0xff, 0xff},
                                                    {0xff, 0xff, 0xff, 0x7f},
                                                    {0x7f, 0xff, 0xff, 0xff},
                                                    {0xff, 0xff},
                                                    {'9', '9', '9', '9', '9', '9', '9', '9', '9', '9'},
                                                    {'-', '1'},
                                                    {'1', 'e', '9', '9', '9'}}};
        const Bytes& extreme = extremes.at(below(extremes.size()));
        const std::size_t begin = below(bytes.size());
        const std::size_t size = std::min(extreme.size(), bytes.size() - begin);
        std::copy_n(extreme.begin(), size, bytes.begin() + static_cast<std::ptrdiff_t>(begin));
    }

    void erase(Bytes& bytes) {
        const std::size_t begin = below(bytes.size());
        const std::size_t end = begin + 1 + below(bytes.size() - begin);
        bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(begin),
                    bytes.begin() + static_cast<std::ptrdiff_t>(end));
    }

    void insert(Bytes& bytes, const Bytes& piece) {
        const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(below(bytes.size() + 1));
        bytes.insert(place, piece.begin(), piece.end());
    }

    Bytes piece_of(const Bytes& bytes) {
        if (bytes.empty()) return {};
        const std::size_t begin = below(bytes.size());
        const std::size_t size = 1 + below(std::min<std::size_t>(bytes.size() - begin, 64));
        const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(begin);
        return {first, first + static_cast<std::ptrdiff_t>(size)};
    }

    Bytes any_seed() { return seeds_.empty() ? Bytes{} : seeds_[below(seeds_.size())]; }
    Bytes random_bytes(std::size_t size) {
        Bytes bytes(size);
        for (std::uint8_t& byte : bytes) byte = random_byte();
        return bytes;
    }
    std::uint8_t random_byte() { return static_cast<std::uint8_t>(below(256)); }
    std::size_t below(std::size_t end) { return random_() % end; }

    std::vector<Bytes> seeds_;
    std::mt19937_64 random_;
};

}  // namespace

int main(int argc, char* argv[]) {
    if (argc < 2) {
        fmt::print(stderr, "usage: {} SEED_DIRECTORY [RANDOM_SEED [INPUTS]]\n", argv[0]);
        return EXIT_FAILURE;
    }
    const std::uint64_t random_seed = argc > 2 ? std::stoull(argv[2]) : 1;
    const std::uint32_t inputs =
        systole::tests::random_runs(argc > 3 ? static_cast<std::uint32_t>(std::stoul(argv[3])) : 10000);
    const std::vector<Bytes> seeds = read_seeds(argv[1]);
    if (seeds.empty()) {
        fmt::print(stderr, "{}: holds no seed\n", argv[1]);
        return EXIT_FAILURE;
    }
    fmt::print("{} seeds, {} inputs made of them from random seed {}\n", seeds.size(), inputs, random_seed);
    std::fflush(stdout);

    for (const Bytes& seed : seeds) LLVMFuzzerTestOneInput(seed.data(), seed.size());
    Mutator mutator(seeds, random_seed);
    for (std::uint32_t i = 0; i < inputs; ++i) {
        const Bytes input = mutator.next();
        LLVMFuzzerTestOneInput(input.data(), input.size());
    }
    return EXIT_SUCCESS;
}
