"""Where the NameNodes are, and a WebHDFS client for them.

Their addresses are read from HADOOP_CONF_DIR (hdfs-site.xml; a highly available name service has several) or from
PERCEPTRON_WEBHDFS (`http://host:9870`, several separated by `;`). If the cluster requires Kerberos, the extension of
the `hdfs` package is used (`pip install 'hdfs[kerberos]'`).
"""

import getpass
import os
import xml.etree.ElementTree as ElementTree
from urllib.parse import urlsplit

from hdfs import Client, InsecureClient

from perceptron_core.errors import InputError, UserError

DEFAULT_PORT = 9870
TIMEOUTS = (10, 60)  # seconds: to connect, and between the bytes of an answer


def hadoop_configuration() -> dict[str, str]:
    """The properties of core-site.xml and hdfs-site.xml in HADOOP_CONF_DIR."""
    properties: dict[str, str] = {}
    folder = os.environ.get("HADOOP_CONF_DIR", "")
    for name in ("core-site.xml", "hdfs-site.xml"):
        path = os.path.join(folder, name)
        if not folder or not os.path.exists(path):
            continue
        try:
            for item in ElementTree.parse(path).iter("property"):
                properties[item.findtext("name", "").strip()] = item.findtext("value", "").strip()
        except ElementTree.ParseError as error:
            raise InputError(f"is not XML ({error}); fix it, or unset HADOOP_CONF_DIR", path) from error
    return properties


def namenode_addresses(host: str, properties: dict[str, str]) -> str:
    """The WebHDFS address of a NameNode or a name service, several separated by `;`."""
    given = os.environ.get("PERCEPTRON_WEBHDFS")
    if given:
        return given
    scheme = "https" if properties.get("dfs.http.policy") == "HTTPS_ONLY" else "http"
    key = f"dfs.namenode.{scheme}-address"
    service = host or urlsplit(properties.get("fs.defaultFS", "")).netloc
    members = properties.get(f"dfs.ha.namenodes.{service}", "")
    if members:
        found = [properties.get(f"{key}.{service}.{member.strip()}") for member in members.split(",")]
        return ";".join(f"{scheme}://{address}" for address in found if address)
    name = service.partition(":")[0] or "localhost"
    address = properties.get(key, "")
    if not address or address.startswith("0.0.0.0"):
        address = f"{name}:{address.partition(':')[2] or DEFAULT_PORT}"
    return f"{scheme}://{address}"


def connect(host: str) -> Client:
    properties = hadoop_configuration()
    url = namenode_addresses(host, properties)
    if properties.get("hadoop.security.authentication", "simple") == "kerberos":
        try:
            from hdfs.ext.kerberos import KerberosClient
        except ImportError as error:
            problem = "the cluster requires Kerberos; install its client: pip install 'hdfs[kerberos]'"
            raise UserError(problem) from error
        return KerberosClient(url, timeout=TIMEOUTS)
    return InsecureClient(url, user=os.environ.get("HADOOP_USER_NAME") or getpass.getuser(), timeout=TIMEOUTS)
