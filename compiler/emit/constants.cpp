#include "compiler/emit/constants.h"

#include <algorithm>

namespace systole::emit {
namespace {

/// Writes numbers one behind the other, little endian.
class LittleEndianWriter {
public:
    explicit LittleEndianWriter(std::uint8_t* to) : to_(to) {}

    void write(std::int32_t value) {
        const auto bits = static_cast<std::uint32_t>(value);
        for (const int shift : {0, 8, 16, 24}) *to_++ = static_cast<std::uint8_t>(bits >> shift);
    }
    void write(std::int8_t value) { *to_++ = static_cast<std::uint8_t>(value); }

private:
    std::uint8_t* to_;
};

void write_parameters(const mapping::Requantization& rules, const schedule::Segment& segment,
                      std::uint8_t* to) {
    LittleEndianWriter writer(to);
    const std::size_t end = std::size_t{segment.first_channel} + segment.channels;
    for (std::size_t i = segment.first_channel; i < end; ++i) writer.write(rules.bias[i]);
    for (std::size_t i = segment.first_channel; i < end; ++i) writer.write(rules.multiplier[i]);
    for (std::size_t i = segment.first_channel; i < end; ++i) writer.write(rules.shift[i]);
}

}  // namespace

std::vector<std::uint8_t> constant_rows(const mapping::Network& network, const schedule::Schedule& schedule) {
    const std::size_t row_bytes = schedule.target.geometry.rows;
    std::vector<std::uint8_t> contents(schedule.constant_rows * row_bytes, 0);
    for (std::size_t l = 0; l < schedule.layers.size(); ++l) {
        const schedule::LayerPlan& plan = schedule.layers[l];
        for (const std::vector<schedule::Segment>& column_tile : plan.segments) {
            for (const schedule::Segment& segment : column_tile) {
                write_parameters(*schedule::requantization(network.layers[segment.layer]), segment,
                                 contents.data() + segment.parameters_row * row_bytes);
            }
        }
        if (const auto* table = schedule::lookup_table(network.layers[l])) {
            const std::vector<std::uint8_t> bytes = schedule::table_bytes(*table);
            std::copy(bytes.begin(), bytes.end(), contents.data() + *plan.table_row * row_bytes);
        }
    }
    return contents;
}

}  // namespace systole::emit
