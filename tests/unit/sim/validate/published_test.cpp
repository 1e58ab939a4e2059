#include "sim/validate/published.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "hw/machine/config_error.h"
#include "hw/machine/config_reader.h"

namespace systole::validate {
namespace {

const std::filesystem::path project = SYSTOLE_SOURCE_DIR;

nlohmann::json shipped() {
    return machine::read_json_object(project / "configs/published/tpu_v1.json");
}

TEST_CASE("The shipped published figures are read", "[sim][validate]") {
    const Published read = read_published(project / "configs/published/tpu_v1.json");
    CHECK(read.table_3.rows[1][CNN0] == 78.2);
    CHECK(read.table_3.rows[3][6] == 43);
    CHECK(read.table_6.ratios[TpuOverGpu][MLP1] == 60.0);
    CHECK(read.figure_9.incremental_wm[PrimeOverGpu] == 68);
    CHECK(read.figure_11.curves[MatrixPlus][4] == 0.75);
    CHECK(read.figure_11.confidence == Confidence::Digitized);
    CHECK(read.table_4.at_maximum.batch == 250);
}

TEST_CASE("Published figures that are no figures are one line", "[sim][validate]") {
    nlohmann::json object = shipped();
    const auto message = [&] {
        try {
            read_published(object, "p.json");
        } catch (const machine::ConfigError& error) {
            return std::string(error.what());
        }
        return std::string("nothing thrown");
    };
    SECTION("a workload is missing") {
        object["table_8"]["unified_buffer_mib"].erase("CNN1");
        CHECK(message() == "p.json: table_8.unified_buffer_mib.CNN1 is missing; it is needed");
    }
    SECTION("a table is missing") {
        object.erase("table_7");
        CHECK(message() == "p.json: table_7 is missing; it is needed");
    }
    SECTION("an unknown key") {
        object["table_3"]["array_activ"] = 1;
        CHECK(message() ==
              "p.json: table_3.array_activ is 1; it is not a known key; did you mean \"array_active\"?");
    }
    SECTION("no source") {
        object["figure_9"].erase("source");
        CHECK(message() == "p.json: figure_9.source is missing; it is needed");
    }
    SECTION("a confidence that is none") {
        object["figure_9"]["confidence"] = "sure";
        CHECK(message() ==
              "p.json: figure_9.confidence is \"sure\"; it must be one of \"seen\", \"digitized\", "
              "\"derived\"");
    }
    SECTION("no cycles follow from row 2") {
        object["table_3"]["useful_macs"]["MLP0"] = 0;
        CHECK(message() ==
              "p.json: table_3.useful_macs.MLP0 is 0; it must be above 0, as cycles are compared by it");
    }
    SECTION("a batch of half an inference") {
        object["table_1"]["batch"]["CNN0"] = 7.5;
        CHECK(message() == "p.json: table_1.batch.CNN0 is 7.5; it must be a whole number from 1 to 1000000");
    }
    SECTION("a ratio of nothing") {
        object["table_6"]["tpu_over_cpu"]["CNN0"] = 0;
        CHECK(message() == "p.json: table_6: TPU/CPU of CNN0 is 0; it must be above 0");
    }
    SECTION("another schema") {
        object["schema"] = "sim.machine/1";
        CHECK(message() == "p.json: schema is \"sim.machine/1\"; it must be \"sim.published/1\"");
    }
}

/// The project ships what it compares with; where the collected facts lie beside it, the two are held
/// together.
TEST_CASE("The shipped figures are those of the reference", "[sim][validate]") {
    const std::filesystem::path path = project.parent_path() / "shared/reference/tpu_v1.json";
    if (!std::filesystem::exists(path)) {
        WARN("SKIPPED: " << path << " is not there");
        return;
    }
    std::ifstream file(path);
    const nlohmann::json reference = nlohmann::json::parse(file);
    const Published read = read_published(project / "configs/published/tpu_v1.json");
    const auto check = [](const nlohmann::json& theirs, const PerWorkload& ours) {
        for (std::size_t i = 0; i < workload_count; ++i) {
            INFO(workload_names[i]);
            CHECK(theirs.at(std::string(workload_names[i])).get<double>() == ours[i]);
        }
    };
    check(reference["table7_model_vs_counters_pct"], read.table_7.model_error_percent);
    check(reference["table8_max_unified_buffer_MiB"], read.table_8.unified_buffer_mib);
    check(reference["table5_host_interaction_pct_of_tpu_time"], read.table_5.host_percent_of_tpu_time);
    std::size_t row = 0;
    for (const auto& [name, values] : reference["table3"]["rows"].items()) {
        INFO(name);
        for (std::size_t i = 0; i < workload_count; ++i) {
            CHECK(values.at(std::string(workload_names[i])).get<double>() == read.table_3.rows[row][i]);
        }
        CHECK(reference["table3"]["printed_mean"][name.substr(0, 1)].get<double>() ==
              read.table_3.rows[row][workload_count]);
        ++row;
    }
    const nlohmann::json& table_6 = reference["table6_relative_perf_per_die_vs_cpu"];
    const std::array<const char*, 3> rows{"GPU", "TPU", "Ratio"};
    for (std::size_t ratio = 0; ratio < rows.size(); ++ratio) {
        const nlohmann::json& values = table_6[rows[ratio]];
        for (std::size_t i = 0; i < workload_count; ++i) {
            CHECK(values[i].get<double>() == read.table_6.ratios[ratio][i]);
        }
        CHECK(values[6].get<double>() == read.table_6.geometric_mean[ratio]);
        CHECK(values[7].get<double>() == read.table_6.weighted_mean[ratio]);
    }
    const nlohmann::json& figure_11 = reference["fig11_sensitivity_weighted_mean"];
    for (std::size_t curve = 0; curve < curve_names.size(); ++curve) {
        for (std::size_t i = 0; i < scales.size(); ++i) {
            CHECK(figure_11[std::string(curve_names[curve])][i].get<double>() ==
                  read.figure_11.curves[curve][i]);
        }
    }
    const nlohmann::json& figure_9 = reference["fig9_perf_per_watt"];
    for (std::size_t i = 0; i < server_ratio_names.size(); ++i) {
        CHECK(figure_9["total_GM"][i].get<double>() == read.figure_9.total_gm[i]);
        CHECK(figure_9["total_WM"][i].get<double>() == read.figure_9.total_wm[i]);
        CHECK(figure_9["incremental_GM"][i].get<double>() == read.figure_9.incremental_gm[i]);
        CHECK(figure_9["incremental_WM"][i].get<double>() == read.figure_9.incremental_wm[i]);
    }
}

}  // namespace
}  // namespace systole::validate
