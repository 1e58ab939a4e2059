// A measurement as text for people.
#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/study/measure/measure.h"
#include "sim/view/terminal/layout.h"

namespace systole::measure {
namespace {

std::string spread(const Timing& timing) {
    return fmt::format("+-{:.0f} %", 50.0 * timing.spread);
}

double gops(std::uint64_t macs, const Timing& timing) {
    return 2.0 * static_cast<double>(macs) / timing.median / 1e9;
}

/// The text, line by line.
class Writer {
public:
    explicit Writer(const terminal::Look& look) : look_(look) {
        // The shape of a product takes 22 characters and a blank. Its column is the first to be left out.
        const std::array<terminal::Column, 2> table{
            {{.width = 17, .least = 11}, {.width = 23, .least = 23, .leave = 1}}};
        constexpr std::size_t fixed = 2 + 9 + 9 + 10 + 9;
        const std::vector<std::size_t> widths = terminal::fit(table, look.width() - fixed);
        name_width_ = widths[0] - 1;
        shape_width_ = widths[1] > 0 ? widths[1] - 1 : 0;
    }

    void line(std::string text) {
        text.erase(text.find_last_not_of(' ') + 1);
        text_ += text + '\n';
    }
    void note(std::string_view lead, std::string_view text) {
        line(terminal::beside(lead, text, look_.width()));
    }
    void heading(const std::string& text) {
        line(look_.paint(terminal::Role::Heading, terminal::wrapped(text, look_.width())));
    }
    void entry(std::string_view name, const std::string& value, std::string_view remark) {
        note(fmt::format("  {:<18}{:>16}   ", name, value), remark);
    }
    void row(std::string_view name, std::string_view shape, const std::array<std::string, 4>& cells) {
        line(fmt::format("  {:<{}.{}}{} {:>9} {:>8} {:>9} {:>8}", name, name_width_, name_width_,
                         shape_width_ > 0 ? fmt::format(" {0:<{1}.{1}}", shape, shape_width_) : "", cells[0],
                         cells[1], cells[2], cells[3]));
    }
    void row(std::string_view name, const std::string& shape, std::uint64_t macs, const Timing& fp32,
             const Timing& int8) {
        row(name, shape,
            {fmt::format("{:.1f}", gops(macs, fp32)), spread(fp32), fmt::format("{:.1f}", gops(macs, int8)),
             spread(int8)});
    }

    std::string text() && { return std::move(text_); }

private:
    const terminal::Look look_;
    std::size_t name_width_ = 0;
    std::size_t shape_width_ = 0;  ///< 0 if there is no room
    std::string text_;
};

void write_computer(Writer& writer, const Measurement& m) {
    const Computer& computer = m.computer;
    writer.heading(
        fmt::format("{:.60}, {} core{}", computer.name, computer.cores, computer.cores == 1 ? "" : "s"));
    writer.line("");
    if (computer.clock_mhz > 0.0) {
        writer.entry("clock", fmt::format("{:.0f} MHz", computer.clock_mhz), computer.clock_source);
    }
    writer.entry("cores had", fmt::format("{:.0f} %", 100.0 * m.core_share),
                 "of their time for the peak in fp32");
    const std::string cube = fmt::format("a product of {0} x {0} x {0}", m.peak_size);
    writer.entry("peak fp32", fmt::format("{:.1f} GFLOPS", m.peak_gops(m.fp32_peak)),
                 fmt::format("{}; {}", cube, spread(m.fp32_peak)));
    writer.entry("peak int8", fmt::format("{:.1f} GOPS", m.peak_gops(m.int8_peak)),
                 fmt::format("{}; {}", cube, spread(m.int8_peak)));
    writer.entry("memory", fmt::format("{:.1f} GB/s", m.read_gb_per_s()),
                 fmt::format("{} MiB read; {}", m.read_bytes >> 20U, spread(m.read)));
    writer.entry("a call", fmt::format("{:.2f} us", m.call.median * 1e6), "a product of one element");
    if (m.watts) {
        writer.entry("idle", fmt::format("{:.1f} W", m.watts->idle), "all packages");
        writer.entry("busy", fmt::format("{:.1f} W", m.watts->busy),
                     "all packages, the products below in fp32");
    } else {
        writer.note("  ", fmt::format("energy is not measured: {}", m.no_watts_because));
    }
}

void write_products(Writer& writer, const Measurement& m) {
    writer.line("");
    writer.heading(fmt::format("Matrix products of {:.40}, batch {}", m.model, m.batch));
    writer.row("layer", "rows x columns x depth", {"GFLOPS", "fp32", "GOPS", "int8"});
    for (std::size_t i = 0; i < m.products.products.size(); ++i) {
        const Product& product = m.products.products[i];
        writer.row(product.layer, fmt::format("{} x {} x {}", product.m, product.n, product.k),
                   product.macs(), m.fp32.each[i], m.int8.each[i]);
    }
    writer.row("all", "", m.products.macs(), m.fp32.pass, m.int8.pass);
    for (const std::string& layer : m.products.left_out) {
        writer.note("  ", fmt::format("{:<16.16} left out: it is no matrix product", layer));
    }
    writer.entry("throughput fp32", fmt::format("{:.0f} inf/s", m.inferences_per_second(m.fp32)),
                 "the products alone: an upper bound");
    writer.entry("throughput int8", fmt::format("{:.0f} inf/s", m.inferences_per_second(m.int8)), "");
    writer.note("  ",
                fmt::format("(medians of {} and {} passes; +-: half the distance between the quartiles)",
                            m.fp32.pass.repetitions, m.int8.pass.repetitions));
}

}  // namespace

std::string to_text(const Measurement& measurement, const terminal::Look& look) {
    Writer writer(look);
    write_computer(writer, measurement);
    write_products(writer, measurement);
    return std::move(writer).text();
}

}  // namespace systole::measure
