#include "hw/machine/published_energies.h"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>

#include "tests/support/source_dir.h"

using namespace systole;

namespace {

constexpr double kibibyte = 1024.0;

/// The rows of the published table: operation, and the cells of its two columns.
std::map<std::string, std::pair<std::string, std::string>> read_table(std::istream& page) {
    std::map<std::string, std::pair<std::string, std::string>> rows;
    for (std::string line; std::getline(page, line);) {
        std::istringstream cells(line);
        std::string skipped, operation, at_45, at_7;
        std::getline(cells, skipped, '|');
        std::getline(cells, operation, '|');
        std::getline(cells, at_45, '|');
        std::getline(cells, at_7, '|');
        if (!at_7.empty()) rows[operation.substr(1, operation.size() - 2)] = {at_45, at_7};
    }
    return rows;
}

}  // namespace

TEST_CASE("Energies between the published processes are interpolated on logarithmic axes", "[energy]") {
    for (const machine::TwoProcesses& operation :
         {machine::int8_multiply, machine::int32_add, machine::int32_multiply}) {
        CHECK(operation.at(45.0) == Approx(operation.at_45_nm));
        CHECK(operation.at(7.0) == Approx(operation.at_7_nm));
        // Half way in logarithms are both geometric means.
        CHECK(operation.at(std::sqrt(45.0 * 7.0)) ==
              Approx(std::sqrt(operation.at_45_nm * operation.at_7_nm)));
        CHECK(operation.at(28.0) < operation.at(29.0));
    }
    CHECK(machine::int8_multiply.at(28.0) ==
          Approx(0.2 * std::pow(0.35, std::log(45.0 / 28) / std::log(45.0 / 7))));
}

TEST_CASE("SRAM energy is the published one at published sizes, and grows between and above them",
          "[energy]") {
    const std::array<std::array<double, 3>, 3> published{{{8, 10, 7.5}, {32, 20, 8.5}, {1024, 100, 14}}};
    for (const auto& [kilobytes, at_45, at_7] : published) {
        CHECK(machine::sram_per_64_bits(kilobytes * kibibyte, 45.0) == Approx(at_45));
        CHECK(machine::sram_per_64_bits(kilobytes * kibibyte, 7.0) == Approx(at_7));
    }
    CHECK(machine::sram_per_64_bits(16 * kibibyte, 45.0) == Approx(std::sqrt(10.0 * 20.0)));
    for (const double process : {7.0, 28.0, 45.0}) {
        for (double kilobytes = 8; kilobytes < 40000; kilobytes *= 1.5) {
            CHECK(machine::sram_per_64_bits(kilobytes * kibibyte, process) <
                  machine::sram_per_64_bits(kilobytes * 1.5 * kibibyte, process));
        }
        CHECK(machine::sram_per_64_bits(100, process) ==
              Approx(machine::sram_per_64_bits(8 * kibibyte, process)));
        // The slope above the last size is that below it.
        CHECK(machine::sram_per_64_bits(32 * 1024 * kibibyte, process) /
                  machine::sram_per_64_bits(1024 * kibibyte, process) ==
              Approx(machine::sram_per_64_bits(1024 * kibibyte, process) /
                     machine::sram_per_64_bits(32 * kibibyte, process)));
    }
}

TEST_CASE("The constants are those of the published table", "[energy]") {
    const std::filesystem::path path =
        std::filesystem::path(tests::source_dir()) / "../shared/reference/energy.md";
    std::ifstream page(path);
    if (!page) {
        WARN("SKIPPED: the published figures are not at hand");
        return;
    }
    const auto rows = read_table(page);
    const auto check = [&](const std::string& operation, double at_45, double at_7) {
        INFO(operation);
        const auto found = rows.find(operation);
        REQUIRE(found != rows.end());
        CHECK(std::stod(found->second.first) == at_45);
        CHECK(std::stod(found->second.second) == at_7);
    };
    check("int8 multiply", machine::int8_multiply.at_45_nm, machine::int8_multiply.at_7_nm);
    check("int32 add", machine::int32_add.at_45_nm, machine::int32_add.at_7_nm);
    check("int32 multiply", machine::int32_multiply.at_45_nm, machine::int32_multiply.at_7_nm);
    check("DDR3/4 DRAM, per 64 bit", machine::ddr_per_64_bits, machine::ddr_per_64_bits);
    check("SRAM 8 KB, per 64 bit", 10, 7.5);
    check("SRAM 32 KB, per 64 bit", 20, 8.5);
    check("SRAM 1 MB, per 64 bit", 100, 14);
}
