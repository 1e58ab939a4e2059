// The cycles of random networks on random machines: those of `--mapping best` against `plain` and
// `as_published`, with and without the comparison of whole programs.
//
//     build/release/mapping_bench [cases] [first seed] [least steps of a part] [most steps]
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>
#include <exception>
#include <string>
#include <vector>

#include "compiler/ir/model_error.h"
#include "sim/run/record/spec.h"
#include "tests/support/mapping_case.h"

namespace {

using namespace systole;

struct Ratio {
    double ratio = 1;
    std::uint32_t seed = 0;
};

void print(const char* what, std::vector<Ratio> ratios) {
    std::ranges::sort(ratios, std::greater(), &Ratio::ratio);
    constexpr double one_percent = 1.01;
    const auto slower = std::ranges::count_if(ratios, [](const Ratio& r) { return r.ratio > one_percent; });
    fmt::print("{:<34} slower by more than 1 %: {} of {}; worst", what, slower, ratios.size());
    for (std::size_t i = 0; i < std::min<std::size_t>(ratios.size(), 8); ++i) {
        fmt::print(" {:.3f} (seed {})", ratios[i].ratio, ratios[i].seed);
    }
    fmt::print("\n");
}

double processor_seconds() {
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

}  // namespace

int sc_main(int argc, char* argv[]) {
    const std::uint32_t cases = argc > 1 ? static_cast<std::uint32_t>(std::stoul(argv[1])) : 200;
    const std::uint32_t first = argc > 2 ? static_cast<std::uint32_t>(std::stoul(argv[2])) : 1;
    mapping::ComparisonSteps steps;
    if (argc > 3) steps.part = std::stoul(argv[3]);
    if (argc > 4) steps.most = std::stoul(argv[4]);
    std::vector<Ratio> before, after;
    double seconds_without = 0, seconds_with = 0;
    std::uint32_t seed = first;
    for (; before.size() < cases; ++seed) {
        try {
            const tests::MappingCase drawn = tests::mapping_case(seed);
            const auto cycles = [&](const machine::Mapping& mapping) {
                return static_cast<double>(
                    tests::cycles_of(tests::compiled(drawn, mapping).program, drawn.machine));
            };
            const double others = std::min(cycles(machine::mapping_named(machine::MappingName::Plain)),
                                           cycles(machine::mapping_named(machine::MappingName::AsPublished)));
            machine::Mapping best = machine::mapping_named(machine::MappingName::Best);
            best.compare = false;
            const double begun = processor_seconds();
            const isa::Program without = tests::compiled(drawn, best).program;
            seconds_without += processor_seconds() - begun;
            before.push_back({static_cast<double>(tests::cycles_of(without, drawn.machine)) / others, seed});
            best.compare = true;
            const double begun_with = processor_seconds();
            const isa::Program with = tests::compiled(drawn, best, steps).program;
            seconds_with += processor_seconds() - begun_with;
            after.push_back({static_cast<double>(tests::cycles_of(with, drawn.machine)) / others, seed});
        } catch (const ModelError&) {
            continue;  // an image does not fit the unified buffer
        } catch (const std::exception& error) {
            fmt::print("seed {}: {}\n", seed, error.what());
        }
    }
    print("best without comparison / others", before);
    print("best / others", after);
    fmt::print("seeds {} to {}; compiling took {:.2f} s without comparison, {:.2f} s with it\n", first,
               seed - 1, seconds_without, seconds_with);
    return 0;
}
