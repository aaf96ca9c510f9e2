"""Run by hand to write `files/trulens.csv` with trulens 2.16.0; repeat until it has inputs."""

from importlib import import_module

if __name__ == "__main__":
    made, otel, apps = map(import_module, ("tables", "trulens.core.otel.instrument", "trulens.apps.app"))
    session = import_module("trulens.core").TruSession(database_url="sqlite:///trulens.db")

    class App:
        @otel.instrument()  # type: ignore[untyped-decorator]
        def ask(self, question: str) -> str:
            return str(dict(zip(made.ASKED, made.SAID[version], strict=True))[question])

    for version in made.SAID:
        app = App()
        with apps.TruApp(app, app_name="qa", app_version=version, main_method=app.ask):
            for question in made.ASKED:
                app.ask(question)
    session.force_flush()
    session.get_records_and_feedback()[0].to_csv(made.OUT / "trulens.csv", index=False)
