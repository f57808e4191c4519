"""A Slurm of its own on this machine: a controller and several nodes, with keys, ports, logs and
state in one folder. No service of the machine is used or changed, and what is started here is ended
by its process id."""

import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "sinfo", "scontrol",
            "scancel")
# Daemons lie where a user's PATH does not lead.
SEARCHED = os.environ.get("PATH", "") + ":/usr/local/sbin:/usr/sbin:/sbin"

CONFIGURATION = """\
ClusterName=carve
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/log/slurmctld.log
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
TmpFS={folder}/tmp/%n
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmdLogFile={folder}/log/slurmd.%n.log
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmctldTimeout=10
SlurmdTimeout=10
KillWait=2
ReturnToService=2
JobRequeue=1
MaxArraySize=2001
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=2
"""


def missing_programs():
    return [name for name in PROGRAMS if not shutil.which(name, path=SEARCHED)]


def free_ports(count):
    """Ports that nobody listens on now."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Cluster:
    """`with Cluster(folder, nodes, cpus) as cluster:` starts it; leaving the block ends it."""

    def __init__(self, folder, nodes, cpus):
        self.folder, self.nodes, self.cpus = pathlib.Path(folder), nodes, cpus
        self.processes = {}
        self.environment = {**os.environ, "PATH": SEARCHED,
                            "SLURM_CONF": str(self.folder / "slurm.conf")}

    def __enter__(self):
        try:
            self._configure()
            self._start_munge()
            self._start("slurmctld", ["slurmctld", "-D"])
            for node in self.nodes:
                self.start_node(node)
            self._await(lambda: self.states() == {node: "idle" for node in self.nodes},
                        "the nodes to be idle")
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(self, *_):
        self.end()

    def _configure(self):
        # PMIx keeps sockets in a folder of the node, whose path must be short.
        own = [f"{kind}/{node}" for kind in ("spool", "tmp") for node in self.nodes]
        for name in ("log", "state", *own):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        host = socket.gethostname().split(".")[0]
        port, *ports = free_ports(1 + len(self.nodes))
        user = subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout
        text = CONFIGURATION.format(host=host, port=port, user=user.strip(), folder=self.folder)
        for node, its in zip(self.nodes, ports):
            text += (f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={its} "
                     f"CPUs={self.cpus}\n")
        text += "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n"
        (self.folder / "slurm.conf").write_text(text)

    def _start_munge(self):
        folder = self.folder / "munge"
        folder.mkdir(mode=0o755, exist_ok=True)
        key = folder / "key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        # --force: the folders above, such as /tmp, may be writable by others.
        self._start("munged", ["munged", "--foreground", "--force", f"--key-file={key}",
                               f"--socket={folder}/socket", f"--pid-file={folder}/pid",
                               f"--log-file={folder}/log", f"--seed-file={folder}/seed"])
        self._await((folder / "socket").exists, "munged")

    def _start(self, name, words):
        with open(self.folder / "log" / f"{name}.out", "ab") as out:
            self.processes[name] = subprocess.Popen(
                [shutil.which(words[0], path=SEARCHED), *words[1:]], cwd=self.folder, stdout=out,
                stderr=out, stdin=subprocess.DEVNULL, env=self.environment)

    def start_node(self, node):
        self._start(node, ["slurmd", "-D", "-N", node])

    def lose_node(self, node):
        """Kills the node's daemon and all that runs there, as a machine that loses its power."""
        self.processes.pop(node).kill()
        for pid in self.tasks_on(node):
            self._kill_with_parent(pid)

    def tasks_on(self, node):
        """The processes that this Slurm has started on a node."""
        wanted = {f"SLURM_CONF={self.folder}/slurm.conf".encode(),
                  f"SLURMD_NODENAME={node}".encode()}
        found = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if wanted <= set((process / "environ").read_bytes().split(b"\0")):
                    found.append(int(process.name))
            except OSError:
                pass
        return found

    def _kill_with_parent(self, pid):
        """Kills a process of a job, and the slurmstepd that started it."""
        try:
            parent = int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(") ")[-1].split()[1])
            name = pathlib.Path(f"/proc/{parent}/comm").read_text().strip()
            for one in [parent] * (name == "slurmstepd") + [pid]:
                os.kill(one, signal.SIGKILL)
        except (OSError, ValueError):
            pass  # It has ended meanwhile.

    def ask(self, *words, check=True):
        """What a program of Slurm prints."""
        done = subprocess.run(words, env=self.environment, cwd=self.folder, capture_output=True,
                              text=True, check=False)
        if check and done.returncode:
            raise RuntimeError(f"{' '.join(words)}: status {done.returncode}: {done.stderr}")
        return done.stdout.strip()

    def states(self):
        """The state of each node, without the marks that Slurm adds."""
        lines = self.ask("sinfo", "--Node", "--noheader", "--format=%N %T", check=False)
        return {node: state.rstrip("*~#!%$@^-") for node, state in
                (line.split() for line in lines.splitlines())}

    def tasks(self, *states):
        """The ids of the tasks in the queue, of all or of these states: `12_7`."""
        more = [f"--states={','.join(states)}"] if states else []
        return self.ask("squeue", "--noheader", "--array", "--format=%i", *more).split()

    def _await(self, condition, what, seconds=60):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise RuntimeError(f"waited {seconds} s for {what}; see {self.folder}/log")
            time.sleep(0.2)

    def await_empty(self, seconds):
        self._await(lambda: not self.tasks(), "the queue to be empty", seconds)

    def end(self):
        if "slurmctld" in self.processes:
            self.ask("scancel", "--me", check=False)
        for node in self.nodes:
            for pid in self.tasks_on(node):
                self._kill_with_parent(pid)
        # The controller before munged, which it needs to the end.
        for name in [*self.nodes, "slurmctld", "munged"]:
            process = self.processes.pop(name, None)
            if process:
                process.terminate()
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
