#include "hw/machine/published_energies.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace systole::machine {
namespace {

struct Point {
    double x = 0.0;
    double y = 0.0;
};

/// The straight line through two points, both axes logarithmic.
double on_line(const Point& a, const Point& b, double x) {
    return a.y * std::pow(b.y / a.y, std::log(x / a.x) / std::log(b.x / a.x));
}

struct Sram {
    double bytes = 0.0;
    TwoProcesses per_64_bits;
};

constexpr double kibibyte = 1024.0;
constexpr std::array<Sram, 3> srams{
    {{8.0 * kibibyte, {10.0, 7.5}}, {32.0 * kibibyte, {20.0, 8.5}}, {1024.0 * kibibyte, {100.0, 14.0}}}};

}  // namespace

double TwoProcesses::at(double process_nm) const {
    return on_line({45.0, at_45_nm}, {7.0, at_7_nm}, process_nm);
}

double sram_per_64_bits(double bytes, double process_nm) {
    const auto point = [&](const Sram& sram) { return Point{sram.bytes, sram.per_64_bits.at(process_nm)}; };
    const double size = std::max(bytes, srams.front().bytes);
    const std::size_t segment = size < srams[1].bytes ? 0 : 1;
    return on_line(point(srams[segment]), point(srams[segment + 1]), size);
}

}  // namespace systole::machine
