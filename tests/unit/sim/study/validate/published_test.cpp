#include "sim/study/validate/published.h"

#include <array>
#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>

#include "hw/machine/config_error.h"
#include "hw/machine/config_reader.h"
#include "tests/unit/sim/study/validate/shipped.h"

namespace systole::validate {
namespace {

nlohmann::json shipped_json() {
    return machine::read_json_object(project / "configs/published/tpu_v1.json");
}

TEST_CASE("The shipped published figures are read", "[sim][validate]") {
    const Published read = shipped_figures();
    CHECK(read.at("table_3.useful_macs.CNN0") == 78.2);
    CHECK(read.at("table_3.weight_stall.mean") == 43);
    CHECK(read.at("figure_9.incremental_wm.prime_over_gpu") == 68);
    CHECK(read.at("figure_11.matrix_plus.fourfold") == 0.75);
    CHECK(read.at("table_4.tpu.at_maximum.batch") == 250);
    CHECK_THROWS_AS(read.at("table_4.tpu"), std::logic_error);
}

TEST_CASE("An error in published figures is one line", "[sim][validate]") {
    nlohmann::json object = shipped_json();
    const auto message = [&] {
        try {
            read_published(object, "p.json");
        } catch (const machine::ConfigError& error) {
            return std::string(error.what());
        }
        return std::string("nothing thrown");
    };
    SECTION("no source") {
        object["figure_9"].erase("source");
        CHECK(message() == "p.json: figure_9.source is missing; it is needed");
    }
    SECTION("a source that is none") {
        object["figure_9"]["source"] = 9;
        CHECK(message() == "p.json: figure_9.source is 9; it must be a text");
    }
    SECTION("a host that is none") {
        object["figure_9"]["host"] = 9;
        CHECK(message() == "p.json: figure_9.host is 9; it must be a text");
    }
    SECTION("no confidence") {
        object["figure_9"].erase("confidence");
        CHECK(message() == "p.json: figure_9.confidence is missing; it is needed");
    }
    SECTION("an unknown confidence") {
        object["figure_9"]["confidence"] = "sure";
        CHECK(message() ==
              "p.json: figure_9.confidence is \"sure\"; it must be one of \"seen\", \"digitized\", "
              "\"derived\"");
    }
    SECTION("a negative number") {
        object["table_6"]["tpu_over_cpu"]["CNN0"] = -1;
        CHECK(message() ==
              "p.json: table_6.tpu_over_cpu.CNN0 is -1; it must be a number from 0 to 1000000000000");
    }
    SECTION("a label that is no number") {
        object["figure_7"]["tera_ops"]["LSTM1"] = "0.7";
        CHECK(message() ==
              "p.json: figure_7.tera_ops.LSTM1 is \"0.7\"; it must be a number from 0 to 1000000000000");
    }
    SECTION("more than 100 per cent") {
        object["figure_10_text"]["lstm1_percent_at_tenth_load"]["GPU"] = 178;
        CHECK(message() ==
              "p.json: figure_10_text.lstm1_percent_at_tenth_load.GPU is 178; it must be a number from 0 to "
              "100");
    }
    SECTION("a key that no formula can name") {
        object["figure_9"]["total_gm"]["GPU/CPU"] = 1;
        CHECK(message() == "p.json: figure_9.total_gm.GPU/CPU: a key has letters, digits and _ alone");
    }
    SECTION("a section that is a number") {
        object["figure_9"] = 9;
        CHECK(message() == "p.json: figure_9 is 9; it must be an object: source, confidence and numbers");
    }
    SECTION("a section that no formula can name") {
        object["figure 9"] = object["figure_9"];
        CHECK(message() == "p.json: figure 9: a key has letters, digits and _ alone");
    }
    SECTION("no title") {
        object.erase("title");
        CHECK(message() == "p.json: title is missing; it is needed");
    }
    SECTION("another schema") {
        object["schema"] = "sim.machine/1";
        CHECK(message() == "p.json: schema is \"sim.machine/1\"; it must be \"sim.published/1\"");
    }
}

const std::array<std::string, 6> workload_names{"MLP0", "MLP1", "LSTM0", "LSTM1", "CNN0", "CNN1"};

void check_table_1(const nlohmann::json& reference, const Published& read) {
    for (const std::string& workload : workload_names) {
        INFO(workload);
        const auto table_1 = [&](const std::string& key) {
            return read.at("table_1." + key + "." + workload);
        };
        const double fully_connected = table_1("fully_connected");
        const double convolution = table_1("convolution");
        const double vector = table_1("vector");
        const double pool = table_1("pool");
        // LOC, FC, Conv, Vector, Pool, Total, nonlinear, weights, MACs a weight byte, batch.
        const nlohmann::json& row = reference.at(workload);
        CHECK(fully_connected == row[1].get<unsigned>());
        CHECK(convolution == row[2].get<unsigned>());
        CHECK(vector == row[3].get<unsigned>());
        CHECK(pool == row[4].get<unsigned>());
        CHECK(fully_connected + convolution + vector + pool == row[5].get<unsigned>());
        CHECK(table_1("weights_millions") * 1e6 == row[7].get<double>());
        CHECK(table_1("macs_per_weight_byte") == row[8].get<double>());
        CHECK(table_1("batch") == row[9].get<unsigned>());
    }
}

void check_table_4(const nlohmann::json& reference, const Published& read) {
    std::size_t line = 0;
    for (const std::string processor : {"cpu", "gpu", "tpu"}) {
        for (const std::string row : {"within_limit", "at_maximum"}) {
            INFO(reference[line]);
            const std::string path = "table_4." + processor + "." + row;
            CHECK(read.at(path + ".batch") == reference[line][1].get<unsigned>());
            CHECK(read.at(path + ".p99_ms") == reference[line][2].get<double>());
            CHECK(read.at(path + ".inferences_per_second") == reference[line][3].get<double>());
            CHECK(read.at(path + ".percent_of_maximum") == reference[line][4].get<double>());
            ++line;
        }
    }
    CHECK(line == reference.size());
}

void check_table_2(const nlohmann::json& reference, const Published& read) {
    CHECK(read.at("table_2.clock_mhz") == reference.at("TPU").at("MHz").get<double>());
    const std::array<std::pair<const char*, const char*>, 3> servers{
        {{"Haswell E5-2699 v3", "cpu"}, {"NVIDIA K80 (2 dies/card)", "gpu"}, {"TPU", "tpu"}}};
    for (const auto& [name, key] : servers) {
        INFO(name);
        const nlohmann::json& row = reference.at(name);
        const std::string server = std::string("table_2.") + key + "_server_";
        CHECK(read.at(server + "tdp_watts") == row.at("server_TDP_W").get<double>());
        CHECK(read.at(server + "idle_watts") == row.at("server_idle_W").get<double>());
        CHECK(read.at(server + "busy_watts") == row.at("server_busy_W").get<double>());
    }
}

/// What the prose of the article and its figures of the chip say.
void check_architecture(const nlohmann::json& reference, const Published& read) {
    std::size_t found = 0;
    const auto check = [&](const nlohmann::json& entry, const char* name, std::string_view path) {
        if (entry.at("name") != name) return;
        ++found;
        INFO(name);
        CHECK(entry.at("value").get<double>() == read.at(path));
    };
    for (const nlohmann::json& entry : reference.at("architecture")) {
        check(entry, "matrix_unit_rows", "section_2.array");
        check(entry, "host_if_to_ub_bw", "figure_1.host_link_gib_per_s");
    }
    CHECK(found == 2);
    CHECK(reference.at("isa").at("cpi_typical")[0].get<double>() ==
          read.at("section_2.cycles_an_instruction_from"));
    CHECK(reference.at("isa").at("cpi_typical")[1].get<double>() ==
          read.at("section_2.cycles_an_instruction_to"));
}

/// "~79" is read off the figure.
double about(const nlohmann::json& value) {
    return value.is_string() ? std::stod(value.get<std::string>().substr(1)) : value.get<double>();
}

void check_figure_10(const nlohmann::json& reference, const Published& read) {
    const std::array<std::pair<const char*, std::string>, 5> curves{{{"TPU", "tpu_watts"},
                                                                     {"TPU+Haswell/2", "tpu_with_host_watts"},
                                                                     {"K80", "gpu_watts"},
                                                                     {"K80+Haswell/4", "gpu_with_host_watts"},
                                                                     {"Haswell", "cpu_watts"}}};
    for (const auto& [name, key] : curves) {
        INFO(name);
        for (std::size_t i = 0; i <= 10; ++i) {
            CHECK(about(reference.at(name)[i]) == read.at("figure_10." + key + "." + std::to_string(10 * i)));
        }
    }
    const nlohmann::json& text = reference.at("text");
    const std::array<std::pair<const char*, std::string>, 3> processors{
        {{"TPU", "TPU"}, {"Haswell", "CPU"}, {"K80", "GPU"}}};
    for (const auto& [name, key] : processors) {
        CHECK(100.0 * text.at("cnn0_10pct_over_100pct").at(name).get<double>() ==
              Approx(read.at("figure_10_text.cnn0_percent_at_tenth_load." + key)));
        CHECK(100.0 * text.at("lstm1_10pct_over_100pct").at(name).get<double>() ==
              Approx(read.at("figure_10_text.lstm1_percent_at_tenth_load." + key)));
    }
    const nlohmann::json& host = text.at("host_cpu_at_100pct_load_pct_of_full");
    CHECK(host.at("with_TPU").get<double>() == read.at("figure_10_text.host_percent_with_tpus"));
    CHECK(host.at("with_GPU").get<double>() == read.at("figure_10_text.host_percent_with_gpus"));
}

/// Runs read a baseline's watts and dies without this file.
TEST_CASE("Table 2 agrees with the baselines", "[sim][validate]") {
    const Published read = shipped_figures();
    const baselines::Baseline cpu = shipped_cpu();
    const baselines::Baseline gpu = shipped_gpu();
    CHECK(read.at("table_2.cpu_dies") == cpu.server.dies);
    CHECK(read.at("table_2.gpu_dies") == gpu.server.dies);
    CHECK(read.at("table_2.cpu_server_tdp_watts") == cpu.server.tdp_watts);
    CHECK(read.at("table_2.gpu_server_tdp_watts") == gpu.server.tdp_watts);
    CHECK(read.at("table_2.cpu_server_tdp_watts") == gpu.server.host_tdp_watts);
}

/// The project ships what it compares with; where the collected facts lie beside it, the two are held
/// together.
TEST_CASE("The shipped figures are those of the reference", "[sim][validate]") {
    if (!std::filesystem::exists(reference_file)) {
        WARN("SKIPPED: " << reference_file << " is not there");
        return;
    }
    std::ifstream file(reference_file);
    const nlohmann::json reference = nlohmann::json::parse(file);
    const Published read = shipped_figures();
    const auto check = [&](const nlohmann::json& theirs, const std::string& path) {
        for (const std::string& workload : workload_names) {
            INFO(path << ", " << workload);
            CHECK(theirs.at(workload).get<double>() == read.at(path + "." + workload));
        }
    };
    check(reference["table7_model_vs_counters_pct"], "table_7.model_error_percent");
    check(reference["table8_max_unified_buffer_MiB"], "table_8.unified_buffer_mib");
    check(reference["table5_host_interaction_pct_of_tpu_time"], "table_5.host_percent_of_tpu_time");
    const std::array<std::string, 9> table_3_rows{"array_active", "useful_macs",  "unused_macs",
                                                  "weight_stall", "weight_shift", "non_matrix",
                                                  "raw_stall",    "input_stall",  "tera_ops"};
    std::size_t row = 0;
    for (const auto& [name, values] : reference["table3"]["rows"].items()) {
        check(values, "table_3." + table_3_rows.at(row));
        CHECK(reference["table3"]["printed_mean"][name.substr(0, 1)].get<double>() ==
              read.at("table_3." + table_3_rows.at(row) + ".mean"));
        ++row;
    }
    CHECK(row == table_3_rows.size());
    const nlohmann::json& table_6 = reference["table6_relative_perf_per_die_vs_cpu"];
    const std::array<std::pair<const char*, std::string>, 3> rows{
        {{"GPU", "gpu_over_cpu"}, {"TPU", "tpu_over_cpu"}, {"Ratio", "tpu_over_gpu"}}};
    for (const auto& [name, key] : rows) {
        const nlohmann::json& values = table_6[name];
        for (std::size_t i = 0; i < workload_names.size(); ++i) {
            CHECK(values[i].get<double>() == read.at("table_6." + key + "." + workload_names.at(i)));
        }
        CHECK(values[6].get<double>() == read.at("table_6.geometric_mean." + key));
        CHECK(values[7].get<double>() == read.at("table_6.weighted_mean." + key));
    }
    check_table_1(reference["table1"], read);
    check_table_2(reference["table2"], read);
    check_architecture(reference, read);
    CHECK(reference["floorplan_percent_of_die"]["groups_arxiv_caption"]["data_buffers"].get<double>() ==
          read.at("figure_2.data_buffers_percent"));
    CHECK(reference["cnn1_remarks"]["weight_wait_pct"].get<double>() ==
          read.at("table_3_text.cnn1_weight_wait_percent"));
    check_table_4(reference["table4_mlp0_latency"]["rows"], read);
    const nlohmann::json& roofline = reference["roofline"];
    check(roofline["fig6_haswell"]["tops"], "figure_6.tera_ops");
    check(roofline["fig6_haswell"]["x"], "figure_6_places.macs_per_weight_byte");
    check(roofline["fig7_k80"]["tops"], "figure_7.tera_ops");
    check(roofline["fig7_k80"]["x"], "figure_7_places.macs_per_weight_byte");
    check_figure_10(reference["fig10_watts_per_die_cnn0"], read);
    const nlohmann::json& figure_11 = reference["fig11_sensitivity_weighted_mean"];
    const std::array<std::pair<const char*, std::string>, 5> curves{{{"memory", "memory"},
                                                                     {"clock", "clock"},
                                                                     {"clock+", "clock_plus"},
                                                                     {"matrix", "matrix"},
                                                                     {"matrix+", "matrix_plus"}}};
    const std::array<std::string, 5> scales{"quarter", "half", "same", "double", "fourfold"};
    for (const auto& [name, key] : curves) {
        for (std::size_t i = 0; i < scales.size(); ++i) {
            CHECK(figure_11[name][i].get<double>() == read.at("figure_11." + key + "." + scales.at(i)));
        }
    }
    const nlohmann::json& figure_9 = reference["fig9_perf_per_watt"];
    const std::array<std::string, 5> ratios{"gpu_over_cpu", "tpu_over_cpu", "tpu_over_gpu", "prime_over_cpu",
                                            "prime_over_gpu"};
    const std::array<std::pair<const char*, std::string>, 4> bars{{{"total_GM", "total_gm"},
                                                                   {"total_WM", "total_wm"},
                                                                   {"incremental_GM", "incremental_gm"},
                                                                   {"incremental_WM", "incremental_wm"}}};
    for (const auto& [name, key] : bars) {
        for (std::size_t i = 0; i < ratios.size(); ++i) {
            CHECK(figure_9[name][i].get<double>() == read.at("figure_9." + key + "." + ratios.at(i)));
        }
    }
}

}  // namespace
}  // namespace systole::validate
