#!/bin/bash
# A Slurm of one node on this machine, for tests: `scripts/cluster.sh COMMAND...` starts it, runs the command and
# stops it. Needs root, and Debian's slurm-wlm and munge. Its files are in a folder that is removed at the end; another
# Slurm on the machine is not touched.
set -eu

if [ "$(id -u)" != 0 ]; then
    echo "scripts/cluster.sh: Slurm's daemons need root" >&2
    exit 1
fi
folder=$(mktemp -d /tmp/systole_slurm_XXXXXX)
host=$(hostname -s)
port=$((20000 + RANDOM % 20000))

stop() {
    for name in slurmd slurmctld munged; do
        if [ -s "$folder/$name.pid" ]; then kill "$(cat "$folder/$name.pid")" 2> /dev/null || true; fi
    done
    sleep 0.5
    pkill -9 -f "$folder" 2> /dev/null || true
    rm -rf "$folder"
}
trap stop EXIT

# munge: who asks. It insists on folders that nobody else can write.
chmod 755 "$folder"
mkdir -m 755 "$folder/munge"
dd if=/dev/urandom of="$folder/munge/key" bs=128 count=1 2> /dev/null
chmod 400 "$folder/munge/key"
munged --key-file="$folder/munge/key" --socket="$folder/munge/socket" --pid-file="$folder/munged.pid" \
    --log-file="$folder/munge/log" --seed-file="$folder/munge/seed" --num-threads=1

mkdir "$folder/state" "$folder/spool" "$folder/log"
cat > "$folder/slurm.conf" << END
ClusterName=systole
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
CryptoType=crypto/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/log/slurmctld
SlurmdLogFile=$folder/log/slurmd
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MinJobAge=30
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF=$folder/slurm.conf
slurmctld
slurmd
for _ in $(seq 100); do
    if sinfo --noheader --format=%T 2> /dev/null | grep -q idle; then break; fi
    sleep 0.2
done
if ! sinfo --noheader --format=%T | grep -q idle; then
    echo "scripts/cluster.sh: the node does not come up" >&2
    tail -n 5 "$folder"/log/* >&2
    exit 1
fi
"$@"
