# shellcheck shell=sh
# Login shells reset PATH: our programs come first again.
case $PATH in
  /opt/hermes/bin:*) ;;
  *) PATH=/opt/hermes/bin:/opt/data/.local/bin:$PATH ;;
esac
export PATH
