// The pip that Python itself brings along, run for an environment of which nothing is run.
import { IN_ENVIRONMENT } from './pypi-python.ts';

const FIND = `import glob, os, sysconfig, ensurepip
folders = [sysconfig.get_config_var("WHEEL_PKG_DIR"), os.path.join(os.path.dirname(ensurepip.__file__), "_bundled")]
def brought(name):
    return [wheel for folder in folders if folder for wheel in sorted(glob.glob(os.path.join(folder, name + "-*.whl")))]
wheels = brought("pip")
if not wheels:
    sys.exit("There is no pip in ensurepip.")
`;

/** Prints where it is, and what else Python puts into new environments, a line each. */
export const FIND_PIP = `import sys
${FIND}
print(*wheels[:1], *(brought("setuptools")[:1] if sys.version_info < (3, 12) else []), sep="\\n")
`;

/**
 * After the folder to unpack it into come the arguments of pip. That of an environment may have come with the target, or
 * a package may have written over it. Nothing is imported but this one and the standard library; what is in the
 * environment can only be read about, which pip needs. What a package needs has a name: by an address, pip would build it,
 * and run its code, although it was told to take nothing but wheels. Settings in the environment are not read: they would come before
 * those of the operator, and make pip write anywhere.
 */
export const RUN_PIP = `${IN_ENVIRONMENT}
${FIND}
import importlib.machinery, runpy, shutil, tempfile, zipfile
folder, *sys.argv[1:] = asked
own = wheels[0]
if folder:
    own = os.path.join(folder, os.path.basename(wheels[0]))
    if not os.path.isdir(own):
        half = tempfile.mkdtemp(dir=folder)
        zipfile.ZipFile(wheels[0]).extractall(half)
        try:
            os.rename(half, own)
        except OSError:  # Another install was first.
            shutil.rmtree(half)
    sys.pycache_prefix = os.path.join(folder, "compiled")
    sys.dont_write_bytecode = False

trusted = tuple(os.path.join(os.path.realpath(path), "") for path in [own, *sys.path])
class Unread(importlib.machinery.FileFinder):
    def find_spec(self, name, target=None):
        return None
def unless_trusted(path):
    if os.path.join(os.path.realpath(path), "").startswith(trusted):
        raise ImportError
    return Unread(path)
sys.path_hooks.insert(0, unless_trusted)

sys.path.insert(0, own)
import pip
sys.path.remove(own)  # It would be taken for a package of the environment.
from pip._internal import configuration
files = configuration.get_configuration_files
configuration.get_configuration_files = lambda: {**files(), configuration.kinds.SITE: []}
from pip._internal.exceptions import InstallationError
from pip._internal.req import constructors
read_dependency = constructors.install_req_from_req_string
def never_by_address(*args, **options):
    dependency = read_dependency(*args, **options)
    if dependency.link:
        raise InstallationError("a dependency is given by its address: " + dependency.name)
    return dependency
constructors.install_req_from_req_string = never_by_address
sys.path += dict.fromkeys(sysconfig.get_path(kind) for kind in ("purelib", "platlib"))
runpy.run_module("pip", run_name="__main__", alter_sys=True)
`;
